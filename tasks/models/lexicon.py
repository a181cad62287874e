"""Fixed word lists of the offline judge: function words, light verbs, negations, equals, opposites."""

from itertools import combinations
from typing import Final

from tasks.text.words import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


# Words that say nothing on their own. Negations are not among them: they have their own rule.
STOP_STEMS: Final = _stems("""
    a an the this that these those it its itself he him his she her hers they them their theirs we us our
    ours you your yours i me my mine who whom whose which what where when how why there here
    am is are was were be been being do does did doing done have has had having will would shall should can
    could may might must ought need let get got
    of in on at by for from to into onto upon with within about over under between through during before
    after above below up down out off as than then so such if because while until since although though
    whether and or but also too very just only even still both either each every any some all most more much
    many few other another same own again further once per via etc e.g i.e ie eg s t re ve ll d m
    it's that's there's he's she's we're they're i'm you're let's what's who's i've we've they've i'd i'll
    you'll yes yeah ok okay well
""")

# What a table, a heading or a list leaves out: "SSO is available" is a row and a tick.
LIGHT_STEMS: Final = _stems("""
    include includes included including available offer offers offered provide provides provided support
    supports supported come comes contain contains contained feature featured use used uses using call called
    make makes made known allow allows allowed give gives given describe describes described discuss discusses
    mention mentions state stated states say says said
""")

# What a paraphrase swaps, adds or drops without saying anything else.
_FILLERS: Final = """
    right away just really basically actually simply however therefore otherwise instead already currently anyway
    afraid please thing things way lot kind sort case cases example need needs needed take takes took taken go goes
    going went gone come came want wants work works working mean means happen happens expect expected look looks
    see seen know known think seem seems exactly rather quite roughly around approximately sure able possible note
    mind thus hence still yet now today usually generally typically mainly mostly especially particular
    particularly specific specifically fine enough whatever whichever everything anything something everyone
    anyone someone try start remember like according ensure regardless itself longer along back together well good
    find found put set run part become becomes became bring brings help helps show shows
"""

# Words that a paraphrase takes for one another. Near enough is enough: a claim rests on all its words.
_EQUALS: Final = """
    delete/remove/erase/removal/deletion start/begin/beginning/began/commence/launch
    stop/end/finish/cease buy/purchase/bought receive/obtain keep/retain/store/remain/stay/retention/kept
    need/require/necessary/mandatory/compulsory allow/permit refuse/reject/deny quick/fast/rapid/swift/quickly
    big/large/huge small/little show/display/demonstrate/indicate/suggest choose/select/pick/chose/chosen
    change/modify/alter/edit cost/price/charge/fee annual/year/annually month/monthly day/daily week/weekly
    hour/hourly maximum/max minimum/min try/attempt ask/request answer/reply/respond/response happen/occur
    rise/increase/grow/growth decrease/reduce/decline/reduction die/death/dead/deceased write/wrote/written/author
    correct/right wrong/incorrect company/firm/corporation country/nation movie/film kid/child/children
    doctor/physician help/assist/aid find/discover/discovery usual/normal/typical common/frequent/often/frequently
    entire/whole/full/complete job/occupation famous/popular locate/situate disease/illness ill/sick
    result/outcome join/combine reveal/disclose build/construct/built speak/talk/spoke tell/told sell/sold
    give/given/gave win/won/winner/victory lose/lost/loss create/creation produce/production send/sent/deliver
    hold/held pay/paid/payment bill/invoice cancel/canceled/cancelled expire/expiry people/person/human
    car/automobile picture/image/photo road/street hard/difficult easy/simple employ/hire wish/want
    previous/former/earlier near/close several/multiple nearly/almost aim/goal/purpose teach/instruct
    study/research/investigate birth/born marry/married/marriage immediately/instantly separate/different/distinct
    automatic/automatically manual/manually age/old/older amount/quantity/number use/usage/utilize
"""

# Capitalised, and no names.
CALENDAR_STEMS: Final = _stems("""
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
""")

NEGATIONS: Final = _words("""
    no not never none neither nor nobody nothing nowhere without cannot can't don't doesn't didn't isn't
    aren't wasn't weren't won't wouldn't shouldn't couldn't hasn't haven't hadn't mustn't needn't ain't hardly
    lack lacks lacked lacking unable incapable
    except excluding
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder
    ne pas jamais aucun aucune sans ni nunca jamás ningún ninguna ninguno tampoco
    não nenhum nenhuma sem mai senza nessun nessuna niet geen nooit zonder inte ingen aldrig utan ikke aldri
    не нет ни никогда без нельзя nie bez لا لم لن ليس ليست بدون غير नहीं न मत बिना
""")
DENYING_CHARACTERS: Final = "不|没|沒|未|无|無(?!料)|ない|なかっ|ません|なし|않|없|못|ไม่"
DENYING_CELLS: Final = _words("no none never n/a ✗ ✘ ✕ ❌ - – — nein non нет 否 無 なし 不支持")
AFFIRMING_CELLS: Final = _words("yes y ✓ ✔ ✅ ✔️ ja oui sí да 是 有 支持 included")

_OPPOSITE_PAIRS: Final = """
    increase/decrease increase/reduce increase/decline rise/fall rise/drop raise/lower raise/cut grow/shrink
    gain/lose gain/loss upregulate/downregulate promote/inhibit activate/inhibit activate/suppress
    activation/inhibition enhance/suppress enhance/reduce stimulate/inhibit induce/inhibit higher/lower
    high/low greater/less more/less more/fewer larger/smaller large/small longer/shorter long/short
    faster/slower fast/slow better/worse best/worst stronger/weaker strong/weak early/late earlier/later
    first/last minimum/maximum least/most before/after above/below upper/lower enable/disable on/off
    open/closed start/stop start/end begin/end allow/forbid allow/prohibit allow/block permit/forbid
    required/optional mandatory/optional include/exclude accept/reject accept/decline approve/reject pass/fail
    succeed/fail success/failure true/false public/private internal/external free/paid manual/automatic
    manually/automatically synchronous/asynchronous add/remove create/delete insert/delete grant/revoke
    show/hide lock/unlock import/export upload/download buy/sell win/lose won/lost alive/dead born/died
    male/female north/south east/west northern/southern eastern/western left/right positive/negative
    benign/malignant presence/absence present/absent protect/harm beneficial/harmful safe/dangerous
    legal/illegal guilty/innocent always/never monthly/annually monthly/yearly daily/weekly weekly/monthly
    daily/monthly
"""
# "Per hour" is not "per day".
_PERIODS: Final = ("minute", "hour", "day", "week", "month", "quarter", "year")
_NEGATING_PREFIXES: Final = ("un", "in", "im", "non", "dis", "ir", "il")
_SHORTEST_BARE: Final = 4


def _roots() -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _EQUALS.split():
        members = [stem(word) for word in group.split("/")]
        found.update((member, members[0]) for member in members)
    return found


_ROOTS: Final = _roots()


def same(word: str) -> str:
    """The stem that stands for a stem and all its equals.

    >>> same(stem("removed")) == same(stem("deletion")), same("log")
    (True, 'log')
    """
    return _ROOTS.get(word, word)


# Light words and fillers: they count for less, wherever they stand or are missing.
WEAK_STEMS: Final = frozenset(map(same, LIGHT_STEMS | _stems(_FILLERS)))


def _pairs() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    pairs = [pair.split("/") for pair in _OPPOSITE_PAIRS.split()]
    for words in (*pairs, *combinations(_PERIODS, 2)):
        one, other = (same(stem(word)) for word in words)
        found[one] = (*found.get(one, ()), other)
        found[other] = (*found.get(other, ()), one)
    return found


_OPPOSITES: Final = _pairs()


def opposites(word: str) -> tuple[str, ...]:
    """The stems that say the opposite of a stem: listed, or with a negating prefix more or less.

    >>> opposites(stem("enabled")), stem("unlimited") in opposites(stem("limited"))
    (('disabl',), True)
    """
    if word in _OPPOSITES:
        return _OPPOSITES[word]
    if len(word) < _SHORTEST_BARE:
        return ()
    bare = [word.removeprefix(prefix) for prefix in _NEGATING_PREFIXES if word.startswith(prefix)]
    longer = [prefix + word for prefix in _NEGATING_PREFIXES]
    return tuple(other for other in (*bare, *longer) if len(other) >= _SHORTEST_BARE)
