"""Does every machine come to the same state? Random histories of several machines, checked against a naive model.

model.py       registers as the design defines them, from raw lines, sharing no code with the product
machine.py     one machine: a data directory, a state directory, a clock that is wrong, stores
world.py       the machines of one history, and how journals travel between them by copying files
turns.py       one action of one machine
operations.py  what people and programs do, one function for each kind of event; card_operations.py has those of cards
accidents.py   what befalls them: torn tails, backups put back, machines copied, lines of newer programs
checks.py      what must hold at the end
histories.py   the hypothesis state machines
readable.py    what the readable tables must hold, from the model
gitworld.py    the world over real git; killed_sync.py is a sync that dies on the way
"""
