"""The words that `likeness` knows by name. Data only; each set says what it is for.

Whatever is not listed here is an ordinary word, which counts: leaving a word out can only keep two texts apart.
"""

from __future__ import annotations

__all__ = [
    "ALSO_NAMES",
    "ARTICLES",
    "ARTICLE_COUNTS_BEFORE",
    "ASIDES",
    "BE",
    "BOUND_PARTS",
    "CONTRACTIONS",
    "DENIALS",
    "DURATION_AFTER",
    "ENGLISH",
    "FAMILIAR_NAMES",
    "FOREIGN",
    "FUNCTION_WORDS",
    "GENERIC",
    "GERUND_SUBJECTS",
    "IRREGULAR",
    "KEEP_S",
    "LOUD",
    "NAMED",
    "NAMING",
    "NEGATIONS",
    "NO_GERUND",
    "NUMBER_WORDS",
    "OF_IS_EMPTY_AFTER",
    "OPPOSITES",
    "PAUSES_COUNT_AFTER",
    "PAUSES_COUNT_BEFORE",
    "POLARITY",
    "PREPOSITIONS",
    "PRODUCT_PARTS",
    "SAYING",
    "SETTLED",
    "SHARED_WITH_ENGLISH",
    "STATES",
    "THAT_IS_EMPTY_AFTER",
    "TIME_UNITS",
    "TOOLS",
    "TO_IS_EMPTY_AFTER",
    "VERBS",
    "WEAKLY_ENGLISH",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _firsts(text: str) -> dict[str, str]:
    return {word: pair.partition("/")[0] for pair in text.split() for word in pair.split("/")}


ARTICLES = _words("the a an")
#: Before these an article changes the meaning: "few" is hardly any and "a few" is some; who is in charge and who is in
#: the charge of somebody are opposite.
ARTICLE_COUNTS_BEFORE = _words(
    "few little lot lots bit number most least fewest fewer less more charge possession control question command employ "
    "hundred thousand million dozen second third minute only other same way time"
)
BE = _words("is are am")
#: With one of these the parts of a hyphenated word are not on their own.
BOUND_PARTS = _words("no non not un never anti a the re pre post co de dis")
NEGATIONS = _words("no not never none nor neither nothing nobody nowhere without cannot")
#: What a denial adds to a sentence. Two texts that differ in these alone are as close as can be.
POLARITY = NEGATIONS | _words("do did can will longer always no| not| never| none|")

#: A pause after these decides what they apply to: "deploy never, test" and "deploy, never test".
PAUSES_COUNT_AFTER = _words(
    "no not never none nor neither without nothing nobody always only just impossible forbidden prohibited stop avoid skip"
)
#: A pause before these decides what they apply to.
PAUSES_COUNT_BEFORE = _words("if unless when while until because since after before once although except whenever")
#: A comma after these, at the start of a text, says nothing; nor after a word in -ly.
ASIDES = _words("today now also still however here overall often again later sometimes instead therefore thus")
#: The words of other languages that deny, or that a pause decides about.
DENIALS = _words(
    "no non nein não nao нет не нельзя ні nee niet nie nicht kein ne pas jamais mai nunca sempre siempre immer nur όχι δεν "
    "لا ليس לא नहीं नही hayır değil nej nei ikke inte ei ไม่ 아니 아니요 안 không nem"
)

#: Words that say the opposite of each other, each with the first of its two. Texts that differ in these alone are as close
#: as can be.
OPPOSITES = _firsts(
    "enabled/disabled enable/disable on/off up/down in/out before/after with/without from/to over/under above/below "
    "all/some must/may true/false yes/no allow/deny allowed/denied include/exclude open/close start/stop first/last min/max "
    "read/write public/private sync/async encode/decode encrypt/decrypt import/export left/right inner/outer upper/lower "
    "ascending/descending client/server row/column required/optional like/dislike increase/decrease is/was more/less "
    "more/fewer if/unless only/also add/remove push/pull valid/invalid tested/untested trusted/untrusted local/remote "
    "staging/prod used/unused"
)

PREPOSITIONS = _words(
    "in on at with within without under over above below behind between before after inside outside off up down out via "
    "for from by per during until since through near beside beyond across along against among around into onto"
)
#: "all of the tests" is "all the tests".
OF_IS_EMPTY_AFTER = _words("all both half outside inside")
#: "says that it works" is "says it works".
THAT_IS_EMPTY_AFTER = _words(
    "say says said know knows knew think thinks thought believe believes believed note notes noted decide decides "
    "decided agree agrees agreed require requires required ensure ensures ensured assume assumes assumed confirm "
    "confirms confirmed report reports reported find finds found expect expects expected suggest suggests suggested "
    "recommend recommends recommended prefer prefers preferred mean means meant state states stated claim claims claimed "
    "sure check checks verify verifies insist insists hope hopes wish wishes"
)
#: "prefers to write tests" is "prefers writing tests". Never "stop", "remember", "forget", "try", "need", "want": with
#: them the two differ.
TO_IS_EMPTY_AFTER = _words(
    "prefer prefers like likes love loves hate hates help helps start starts begin begins continue continues"
)
#: "Ann, says Bob, is wrong" is not "Ann says Bob is wrong".
SAYING = _words("says said say thinks thought claims claimed believes believed argues insists knows")
#: After these "is ...ing" names an activity and is no present tense: "the goal is reducing load".
GERUND_SUBJECTS = _words(
    "goal problem rule job task plan idea issue bottleneck step todo key trick fix solution aim priority focus point "
    "reason cause risk next work role duty hobby challenge answer alternative option exception first second last what "
    "all difference purpose concern mistake habit advice policy default workaround approach way strategy result thing"
)
#: Participles that are no past tense, or of verbs that cannot stand without an object: "is stored in" is "stored in".
STATES = _words(
    "enabled disabled deprecated located stored hosted installed required supported documented licensed based broken "
    "configured defined encrypted generated owned maintained mounted exposed pinned tagged restricted limited forbidden "
    "banned prohibited excluded included measured cached bundled protected implemented removed deleted replaced "
    "done given taken known shown seen chosen hidden frozen drawn thrown driven forgotten overridden written rewritten"
)

#: "have decided" is "decided": the decision stands either way. Not so with what is done once: "has deployed".
SETTLED = _words("decided agreed")
#: "kept for 30 days" is "kept 30 days"; "in 30 days" is another thing.
DURATION_AFTER = _words("kept cached stored retained archived held preserved paused blocked valid")
TIME_UNITS = _words("second seconds minute minutes hour hours day days week weeks month months year years")

#: Nouns that are followed, or preceded, by a name. The name is taken as it stands: the branch `tests` is not `test`.
NAMING = _words(
    "branch table folder directory dir file filename database db column field key package module class variable var "
    "function method host hostname username login password passphrase bucket queue topic schema tag label namespace "
    "channel repo repository env environment alias flag role group container volume profile region endpoint account "
    "secret property attribute name prefix suffix cluster crate service"
)
#: After such a noun these are no names: "database migrations", "branch names".
GENERIC = _words(
    "migration row name size value type entry change rule worker port server node dump backup record query connection "
    "index lock limit policy owner member list path extension format version level setting option argument parameter "
    "call variable definition file folder column field constraint permission access structure layout module scheme"
)
NAMED = _words("called named titled labelled labeled tagged dubbed")

#: Shouted for emphasis, not as a name.
LOUD = _words("not never always must only do dont don't no should cannot all none every please")
#: Names that people write with and without capitals, wherever those stand. No ordinary word is among them, so that
#: Go, Rust, Swift, Slack and their like are not.
FAMILIAR_NAMES = _words(
    "python pypy cython django numpy scipy pandas pytest mypy pyright pylint postgres postgresql postgis pgvector "
    "redis docker dockerfile kubernetes kubectl minikube terraform opentofu terragrunt ansible linux ubuntu debian "
    "fedora centos redhat nixos freebsd openbsd macos ios ipados watchos tvos iphone ipad macbook github gitlab "
    "bitbucket gitea codeberg jenkins circleci teamcity argocd fluxcd kafka rabbitmq zeromq activemq celery nginx "
    "haproxy traefik envoyproxy mongodb mysql mariadb sqlite duckdb cockroachdb clickhouse timescaledb influxdb "
    "couchdb couchbase neo4j scylladb elasticsearch opensearch logstash kibana grafana prometheus opentelemetry "
    "datadog pagerduty opsgenie splunk newrelic victoriametrics javascript typescript coffeescript livescript "
    "ecmascript webassembly webpack rollupjs esbuild vitejs vitest eslint stylelint jquery svelte sveltekit nextjs "
    "nuxt nuxtjs vuejs vuex reactjs angularjs solidjs nodejs nestjs expressjs deno threejs graphql postgrest openapi "
    "grpc protobuf heroku cloudflare cloudfront cloudwatch cloudformation vercel netlify digitalocean linode hetzner "
    "openstack vmware virtualbox qemu kotlin haskell erlang clojure clojurescript ocaml fsharp csharp golang rustlang "
    "cobol matlab objectivec visualbasic purescript reasonml neovim vim emacs vscode vscodium zsh tmux iterm iterm2 "
    "homebrew npm pnpm npmjs pypi rubygems sidekiq rspec rubocop laravel symfony phpunit wordpress drupal joomla "
    "magento shopify woocommerce figma jira bitwarden anthropic openai claude chatgpt langchain langgraph "
    "llamaindex huggingface pytorch tensorflow tensorboard onnx cuda xgboost lightgbm matplotlib jupyter jupyterlab "
    "plotly streamlit gradio mlflow kubeflow databricks pyspark hadoop hbase mapreduce pydantic fastapi asyncio "
    "aiohttp httpx sqlalchemy alembic gunicorn uvicorn uwsgi airflow dagster bigquery dynamodb firebase "
    "firestore supabase planetscale auth0 okta keycloak oauth openid openssl openssh letsencrypt wireguard openvpn "
    "tailscale sonarqube snyk dependabot codecov browserstack testcontainers gradle bazel cmake "
    "graalvm openjdk intellij pycharm webstorm goland phpstorm datagrip jetbrains xcode testflight cocoapods swiftui "
    "uikit android xamarin electronjs tauri dotnet aspnet nuget powershell powerpoint onedrive sharepoint "
    "microsoft google youtube gmail linkedin facebook instagram whatsapp paypal hubspot salesforce servicenow zendesk "
    "mailchimp sendgrid twilio netsuite quickbooks airtable dropbox evernote clickup todoist nvidia samsung lenovo "
    "huawei netflix spotify airbnb ebay tiktok wikipedia stackoverflow hackernews ycombinator bibtex asciidoc "
    "restructuredtext markdown yaml toml json jsonl html css scss xml csv sql nosql mkdocs readthedocs docusaurus "
    "tailwindcss shadcn mapbox leafletjs openstreetmap raspberrypi arduino esp32 zigbee bluetooth wifi "
    "monday tuesday wednesday thursday friday saturday sunday january february april june july september october "
    "november december english german french spanish italian dutch russian chinese japanese korean europe"
)
#: What follows a maker's name in a product's: "GitHub Actions".
PRODUCT_PARTS = {
    "github": _words("actions pages copilot codespaces"),
    "google": _words("cloud docs drive sheets meet calendar"),
    "claude": _words("code"),
    "microsoft": _words("teams office excel word azure outlook"),
}
#: Ordinary words that are names too where they have a capital, even after the first word of a text: "a Swift rollout".
ALSO_NAMES = _words(
    "swift rust go polish us it who may march august will mark bill grant apple oracle target square express linear teams "
    "word notion signal edge access drive office shell meta spring"
)

#: Programs whose name with a hyphen may be another program: docker-compose and docker compose.
TOOLS = FAMILIAR_NAMES | _words(
    "git apt pip go rust make helm java node react vue ruby rails cmake bash sql java c http ssh aws gcp azure dotnet php"
)

NUMBER_WORDS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half "
    "quarter third fourth fifth sixth seventh eighth ninth tenth first second last"
)
#: Words whose final s is no ending, or whose form without it is another word.
KEEP_S = _words(
    "news goods customs sometimes besides thanks clothes means odds savings contents premises regards others ours yours "
    "hers theirs seconds minutes hours days weeks months years lasts rights lefts pros cons always perhaps whereas "
    "towards afterwards upwards downwards forwards backwards inwards outwards indoors outdoors upstairs downstairs "
    "overseas series species chaos bias alias atlas canvas kudos ethos postgres kubernetes jenkins windows rails pandas "
    "keras arms glasses headquarters quarters https ftps smtps imaps ldaps mqtts amqps devops secops macos saas paas "
    "iaas whose vous nous athletics airs woods surroundings findings"
)

IRREGULAR = {
    "were": "was",
    "has": "have",
    "does": "do",
    "goes": "go",
    "children": "child",
    "indices": "index",
    "vertices": "vertex",
    "matrices": "matrix",
    "criteria": "criterion",
    "women": "woman",
    "men": "man",
    "menus": "menu",
    "cpus": "cpu",
    "gpus": "gpu",
    "apis": "api",
    "wikis": "wiki",
    "emojis": "emoji",
    "clis": "cli",
    "guis": "gui",
    "caches": "cache",
    "headaches": "headache",
    "niches": "niche",
    "axes": "axis",
    "shoes": "shoe",
    "toes": "toe",
    "buses": "bus",
    "aliases": "alias",
    "statuses": "status",
    "viruses": "virus",
    "focuses": "focus",
    "canvases": "canvas",
    "biases": "bias",
    "atlases": "atlas",
    "gases": "gas",
    "bonuses": "bonus",
    "lenses": "lens",
    "quizzes": "quiz",
    "cookies": "cookie",
    "movies": "movie",
    "newbies": "newbie",
    "ties": "tie",
    "dies": "die",
    "lies": "lie",
    "ids": "id",
    "prs": "pr",
    "vms": "vm",
    "dbs": "db",
    "mrs": "mr",
    "uis": "ui",
}

CONTRACTIONS = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "don't": ("do", "not"),
    "dont": ("do", "not"),
    "doesn't": ("do", "not"),
    "doesnt": ("do", "not"),
    "didn't": ("did", "not"),
    "didnt": ("did", "not"),
    "isn't": ("is", "not"),
    "isnt": ("is", "not"),
    "aren't": ("is", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("was", "not"),
    "hasn't": ("have", "not"),
    "haven't": ("have", "not"),
    "hadn't": ("had", "not"),
    "shouldn't": ("should", "not"),
    "shouldnt": ("should", "not"),
    "mustn't": ("must", "not"),
    "couldn't": ("could", "not"),
    "wouldn't": ("would", "not"),
    "needn't": ("need", "not"),
    "it's": ("it", "is"),
    "that's": ("that", "is"),
    "there's": ("there", "is"),
    "he's": ("he", "is"),
    "she's": ("she", "is"),
    "i'm": ("I", "is"),
    "you're": ("you", "is"),
    "we're": ("we", "is"),
    "they're": ("they", "is"),
    "i've": ("I", "have"),
    "you've": ("you", "have"),
    "we've": ("we", "have"),
    "they've": ("they", "have"),
    "i'll": ("I", "will"),
    "you'll": ("you", "will"),
    "we'll": ("we", "will"),
    "they'll": ("they", "will"),
    "it'll": ("it", "will"),
    "he'll": ("he", "will"),
    "she'll": ("she", "will"),
}

#: Verbs in their base form. Only these lose "-ing".
VERBS = _words(
    "accept access add adopt agree allow answer append apply approve argue arrive ask assign assume attach attend avoid "
    "backfill backport become begin believe belong benchmark block boot break bring browse build bump call cancel carry "
    "catch cause change charge check choose claim clean clear clone close collect come commit compare compile complain "
    "compute configure confirm connect consider consume contact contain continue control convert copy cost count crash "
    "create cut debug decide declare decode decrypt define delay delegate delete deliver demand deny depend deploy "
    "deprecate describe design detect develop disable discard discuss dislike display document download drink drive drop "
    "dump duplicate eat edit eject emit enable encode encrypt end enforce enjoy ensure enter escape evaluate exceed "
    "exclude execute exit expect expire explain export expose extend extract fail fall favor favour fetch fill filter "
    "find finish fix flag flush follow force forget fork format forward gather generate get give grant group grow guess "
    "handle hang happen hash hate have hear help hide hire hold host hope identify ignore implement import improve "
    "include increase indicate inherit initialize inject insert inspect install integrate intend interrupt introduce "
    "invalidate invite invoke iterate join keep kill know lack launch lead learn leave let like limit link lint list "
    "listen live load locate lock look loop lose love maintain make manage match measure mention merge migrate modify "
    "monitor mount move name need notify observe omit open operate optimize order output overwrite own package paint "
    "parse pass paste pause pay pick pin play point poll populate post prefer prepare preserve prevent print produce "
    "profile promote propose protect provide provision prune publish pull purge push put query queue quit quote raise "
    "reach read rebase reboot rebuild receive recommend record recover redeploy redirect reduce refactor refer refresh "
    "refuse register reject rely reload remain remember remove rename render reopen repeat replace reply report request "
    "require reserve reset resolve respond restart restore restrict retrieve retry return reuse revert review revoke "
    "rewrite roll rotate route run save say scale scan schedule search see select send separate serve set share ship show "
    "shrink shut sign simplify sit skip sleep sort speak specify spend split squash stand start stay stop store stream "
    "study submit subscribe suggest supply support suppress suspend switch sync take talk teach tell terminate test "
    "think throw time touch trace track train transfer transform translate travel treat trigger truncate trust try tune "
    "turn type understand undo uninstall unlock update upgrade upload use validate verify view visit wait walk want warn "
    "watch wish work wrap write"
)
#: Nouns and environment names in -ing that are not the verb.
NO_GERUND = _words(
    "testing setting meeting building finding heading rating staging timing listing marketing engineering accounting "
    "mapping training warning binding logging caching processing spacing padding pending billing planning pricing "
    "landing ending opening beginning being going existing missing outstanding painting hosting standing understanding "
    "saving feeling offering hearing lacking living lying holding thinking typing packaging formatting shipping reading "
    "coming touching following including regarding considering sharing charging hanging switching finishing fitting"
)

_LOANS = _words(
    "test deploy build commit push merge host format block order plan start stop help open install import export "
    "transfer update upgrade filter scan check review print reset pin tag fork lint debug code call link list rank sort "
    "store support train document report sync restart design name note see let dump want point port pause parse come "
    "die live handle find put set control cause change charge claim copy hash have join love match own rate route type "
    "turn view visit vote"
)
#: Signs that a text is English: words that the languages of FOREIGN do not have.
ENGLISH = _words(
    "the and are is with from for this these those has must should when where which what who their they there my your "
    "you our it's does every each before after only never always because into than then them his her she were been "
    "being would could cannot if by about between through while until since both any some other more most less least "
    "don't doesn't isn't aren't won't can't didn't i'm user's uses prefers wants likes needs runs tests not at "
    "monday tuesday wednesday thursday friday saturday sunday january february "
    "kept built written made sent chosen days weeks months years hours"
) | (VERBS - _LOANS)
#: With one of these, and no word of another language, a text is English too; but an "a" in it may be a Spanish one.
WEAKLY_ENGLISH = _words(
    "in on of by to go goes of its new old all no yes user users team office error errors fixture migration backup file "
    "folder server linter standup deploy deploys release lunch key keyboard theme dark light feature request response "
    "worker queue job branch database table row column field value size length name editor font colour color weekly daily "
    "meeting call email mail customer invoice payment order account password secret token certificate domain host cluster "
    "node machine laptop phone book kitchen house home dog cat child wife husband brother sister friend birthday holiday "
    "vegetarian tea coffee water food breakfast dinner schedule deadline budget price cost report dashboard chart metric "
    "alert warning message commit change changelog review reviewer approval rule policy style guide spelling comment line "
    "space tab string number list set map tree graph function method class module package library framework tool script "
    "command flag option setting default environment staging production test tests build builds pipeline runner image "
    "container volume network port proxy gateway endpoint route page button form screen link url"
)

#: Words of other languages that English texts do not use: with one of them nothing is dropped and nothing stemmed.
FOREIGN = _words(
    "der die das den dem des ein eine einen einem einer und oder nicht nichts kein keine keinen ist sind wird werden "
    "wurde mit auf aus bei von vom zu zum zur im ins nur nie niemals immer auch noch schon wenn dass weil aber sich wir "
    "ihr er sie es ich du mein dein sein haben kann muss soll darf vor nach ohne fuer ueber unter "
    "le la les un une du et est sont ne pas qui que dans pour avec sans nous vous elle ils je tu mais jamais rien "
    "aucun toujours tout c'est n'est "
    "el los las una unos por para con sin nunca siempre pero muy esta este usa usan usar quiere prefiere son hay ya "
    "il lo gli di che della del dei delle nel non mai sempre anche perche sono "
    "uma em ao dos nao com sem mas seu sua ele ela meu prefere usam "
    "de het een niet geen nooit altijd van voor op te naar uit aan maar ook nog wel zijn wordt worden heeft hebben "
    "ik wij hij zij moet mag "
    "og er ikke det som til fra har hun han jeg jag och inte att av till "
    "jest nie sie jak ale bir ve bu icin este sunt nu yang dan tidak ini ja ei az egy nem"
)

#: Of these the ones that are English words as well, so that they say nothing in a text that has an English word.
SHARED_WITH_ENGLISH = _words("die per son hay pour sans van ale met art mag")

#: Words that say nothing about what a text is about; not looked up for candidates.
FUNCTION_WORDS = (
    ARTICLES
    | BE
    | NEGATIONS
    | PREPOSITIONS
    | _words(
        "of to that as be been being was were do does did has have had will would shall should can could may might must "
        "and or but if unless then than so this these those it its i you he she we they me him her us them my your his "
        "our their who whom which what when where why how there here all any some each every both only always also just "
        "very more most less least other such same own too not yes don't doesn't isn't"
    )
)
