"""The packaged model's graph in a form that is ready for one short text at once.

As published, onnxruntime copies the weights twice while it loads them, and then turns the whole table of 30,522 word vectors
into floats to take out the ten that a question needs: 110 ms. The graph made here is 200 KB. It leaves the large weights
in the published file, from which they are mapped, and takes the words out of the table before turning them into floats:
26 ms, with the same result to the last bit. The published file is known by its hash, so what it looks like is known too.

The format is protocol buffers; the numbers below are field numbers of ONNX's ModelProto, GraphProto, NodeProto,
TensorProto and StringStringEntryProto.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GRAPH = 7
_NODE, _TENSOR = 1, 5
_INPUT, _OUTPUT, _NODE_NAME = 1, 2, 3
_RAW, _EXTERNAL, _LOCATION = 9, 13, 14
_BYTES, _VARINT = 2, 0
#: Weights of at least so many bytes stay in the published file.
_LARGE = 64 * 1024
#: The table of word vectors: Cast and Mul make `_WORDS` of the whole of it, then Gather takes out rows of that.
_WORDS = b"inner.embeddings.word_embeddings.weight"


def lean(model: memoryview, location: str) -> bytes:
    """The lean graph of the published `model`. `location` is the name of its file, without the directory.

    Raises ValueError or IndexError where the bytes are not laid out as in the published file.
    """
    parts: list[bytes | memoryview] = []
    graphs = 0
    for number, start, body, end in _fields(model):
        if number == _GRAPH:
            parts.append(_field(_GRAPH, _graph(model[body:end], body, location)))
            graphs += 1
        else:
            parts.append(model[start:end])
    if graphs != 1:
        raise ValueError("this is no model")
    return b"".join(parts)


def _graph(graph: memoryview, offset: int, location: str) -> bytes:
    parts: list[bytes | memoryview] = []
    words = []
    for number, start, body, end in _fields(graph):
        content = graph[body:end]
        if number == _TENSOR and end - body >= _LARGE:
            parts.append(_field(_TENSOR, _outside(content, offset + body, location)))
        elif number == _NODE and _WORDS in bytes(content):
            words.append(content)
        else:
            parts.append(graph[start:end])
    if len(words) != 3:
        raise ValueError("the model has no table of word vectors where it should be")
    # Nodes stand in the order in which they run, and these come first.
    return b"".join([*_reordered(*words), *parts])


def _reordered(cast: memoryview, multiply: memoryview, gather: memoryview) -> list[bytes]:
    """Gather(Mul(Cast(table), scale), words) as Mul(Cast(Gather(table, words)), Gather(scale, words))."""
    (table,), (floats,) = _names(cast)
    (same, scale), (weights,) = _names(multiply)
    (source, words), (vectors,) = _names(gather)
    if (same, source) != (floats, weights):
        raise ValueError("the table of word vectors is not made as it should be")
    return [
        _node(gather, [table, words], [b"rows"], b"lean_rows"),
        _node(gather, [scale, words], [b"row_scale"], b"lean_row_scale"),
        _node(cast, [b"rows"], [b"row_floats"], b"lean_row_floats"),
        _node(multiply, [b"row_floats", b"row_scale"], [vectors], b"lean_words"),
    ]


def _names(node: memoryview) -> tuple[list[bytes], list[bytes]]:
    found: dict[int, list[bytes]] = {_INPUT: [], _OUTPUT: []}
    for number, _start, body, end in _fields(node):
        if number in found:
            found[number].append(bytes(node[body:end]))
    return found[_INPUT], found[_OUTPUT]


def _node(like: memoryview, inputs: list[bytes], outputs: list[bytes], name: bytes) -> bytes:
    """A node of the same operation and attributes."""
    rest = [like[start:end] for number, start, _, end in _fields(like) if number not in (_INPUT, _OUTPUT, _NODE_NAME)]
    named = [
        *(_field(_INPUT, one) for one in inputs),
        *(_field(_OUTPUT, one) for one in outputs),
        _field(_NODE_NAME, name),
    ]
    return _field(_NODE, b"".join([*named, *rest]))


def _outside(tensor: memoryview, offset: int, location: str) -> bytes:
    """A tensor whose bytes are read from the published file."""
    parts: list[bytes | memoryview] = []
    for number, start, body, end in _fields(tensor):
        if number != _RAW:
            parts.append(tensor[start:end])
            continue
        for key, value in (("location", location), ("offset", str(offset + body)), ("length", str(end - body))):
            parts.append(_field(_EXTERNAL, _field(1, key.encode()) + _field(2, value.encode())))
    parts.append(_varint(_LOCATION << 3 | _VARINT) + b"\1")  # 1 is EXTERNAL
    return b"".join(parts)


def _fields(message: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """(number, where the field starts, where its content does, where both end) of each field."""
    at, end = 0, len(message)
    while at < end:
        start = at
        tag, at = _read_varint(message, at)
        if tag & 7 == _BYTES:
            length, at = _read_varint(message, at)
        elif tag & 7 == _VARINT:
            length = _read_varint(message, at)[1] - at
        else:
            raise ValueError("a field of a type that the published file does not have")
        if at + length > end:
            raise ValueError("a field that is longer than what it is in")
        yield tag >> 3, start, at, at + length
        at += length


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content
