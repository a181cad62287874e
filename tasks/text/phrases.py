r"""The set wordings of answers: what they say of their sources, of themselves, and to the reader.

Every pattern is looked for in one sentence without its markers and emphasis, so `^` and `$` are the sentence's.
"""

import re
from typing import Final

_I: Final = re.IGNORECASE

# What an answer was written from. A weak noun may as well be the product's own ("the document is saved"), so it counts
# only with a word that says it was handed over.
_STRONG: Final = (
    r"(?:(?:product|official|technical|internal|user|API|developer|help)\s)?(?:documentation|docs|context|contexts"
    r"|passages?|sources?"
    r"|excerpts?|search results?|retrieved results?|knowledge base|snippets?|manuals?|source material"
    r"|reference material)"
)
_WEAK: Final = (
    r"(?:documents?|text|texts|information|material|materials|articles?|pages?|content|data|results?|files?|chunks?"
    r"|sections?|conversations?)"
)
_GIVEN: Final = (
    r"(?:provided|given|available|retrieved|supplied|above|attached|following|cited|listed|shared|current|relevant"
    r"|existing|referenced)"
)
_BEHIND: Final = (
    r"(?:\s(?:provided|given|supplied|above|retrieved|available|at hand|i (?:have|found|could find|can see"
    r"|was given|looked at)(?: access to| in front of me| here)?"
    r"|(?:that )?you(?:'ve| have)? (?:provided|given|shared|gave me)|that (?:was|were) (?:provided|given)"
    r"|available to me|here))"
)
_THE: Final = r"(?:the|these|this|those|your|any of the|all of the|my|our|both)"
SOURCES: Final = (
    rf"(?:(?:{_THE}\s)?(?:{_GIVEN}\s)?{_STRONG}{_BEHIND}?"
    rf"|(?:{_THE}\s)?{_GIVEN}\s(?:\w+\s)?{_WEAK}{_BEHIND}?"
    rf"|(?:{_THE}\s)?{_WEAK}{_BEHIND})"
)
_NAMED: Final = (
    r"(?:the\s)?[^,.:;]{1,60}?\s(?:page|section|guide|policy|article|report|documentation|docs|documents?|FAQ"
    r"|reference|manual|"
    r"handbook|passages?)"
)
_HOW: Final = (
    r"(?:\s(?:clearly|explicitly|specifically|directly|also|only|further|simply|instead|just|mainly|primarily))?"
)
_SAYS: Final = (
    r"(?:says?|states?|mentions?|indicates?|notes?|explains?|specif(?:y|ies)|shows?|describes?|confirms?|suggests?"
    r"|clarif(?:y|ies)"
    r"|reports?|adds?|point(?:s)? out|make(?:s)? (?:it )?clear)"
)
_STATED: Final = (
    r"(?:stated|described|mentioned|noted|explained|outlined|shown|indicated|specified|documented|listed|detailed"
    r"|said|found|given"
    r"|discussed|defined)"
)
_SEP: Final = r"\s*[,:，：]\s*"

# "According to the documentation, X" and "The documentation says that X": the clause goes, X stays.
LEADING_CLAUSES: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        (
            rf"^(?:(?:so|well|yes|also|however|in short),\s)?(?:according to|based (?:up)?on|as per|per|judging (?:by"
            rf"|from)|from|going by"
            rf"|looking at|in|in accordance with|given)\s{SOURCES}(?:\s(?:on|about|for)\s[^,.;:]{{1,60}})?{_SEP}"
        ),
        rf"^(?:according to|based (?:up)?on|as per|per)\s{_NAMED}{_SEP}",
        rf"^as\s(?:is\s)?{_STATED}\s(?:in|by|on|above in)\s(?:{SOURCES}|{_NAMED}){_SEP}",
        rf"^{SOURCES}{_HOW}\s{_SAYS}\sthat\s",
        rf"^{_NAMED}{_HOW}\s{_SAYS}\sthat\s",
        (
            r"^(?:laut|gemäß|nach)\s(?:(?:der|den|dem|dieser|diesen)\s)?(?:\w+en\s)?(?:dokumentation|dokumenten"
            r"|unterlagen|quellen?|kontext"
            r"|textstellen|passagen|angaben)(?=\s)\s*:?\s"
        ),
        (
            rf"^(?:selon|d['’]après|d'apres)\s(?:la|les|le|ces|cette)\s(?:documentation|documents?|passages?|sources?"
            rf"|contexte|extraits?)"
            rf"(?:\s(?:fournie?s?|donnée?s?))?{_SEP}"
        ),
        (
            rf"^(?:según|de acuerdo con)\s(?:la|los|las|el|estos|esta)\s(?:documentación|documentos?|pasajes?"
            rf"|fuentes?"
            rf"|contexto|información)"
            rf"(?:\s(?:proporcionad[oa]s?|dad[oa]s?))?{_SEP}"
        ),
        r"^(?:根据|依据|按照)(?:所)?(?:提供的|给出的|上述|以上|这些)?(?:文档|文件|资料|上下文|内容|段落|来源|信息)(?:的?(?:说明|内容|描述))?[，,：:]\s*",
        r"^(?:提供された|与えられた|上記の|この)?(?:ドキュメント|文書|資料|コンテキスト|情報|文脈)(?:によると|によれば|では)[、，,]?\s*",
    )
)
TRAILING_CLAUSE: Final = re.compile(
    rf"\s*,?\s(?:according to|as (?:per|{_STATED} (?:in|by))|based on)\s{SOURCES}(?=\s*[.!]*\s*$)", _I
)

_NO: Final = (
    r"(?:(?:do|does|did)(?: not|n['’]t)(?: (?:seem|appear) to)?|(?:do|does) nowhere|fails? to|lacks?|never|(?:is"
    r"|are|was|were) (?:silent|unclear)"
    r"|cannot|can['’]t|contains? no|(?:gives?|provides?|makes?|has|have|includes?|offers?|says?|mentions?|contains?"
    r"|specif(?:y|ies)) (?:no\b|nothing|neither))"
)
_TELL: Final = (
    r"(?:say|state|mention|specify|contain|include|cover|provide|give|describe|explain|address|discuss|list"
    r"|indicate|define|detail"
    r"|document|answer|have|show|offer|tell|clarify|reveal|confirm|refer|make|talk|go into|touch|present|disclose"
    r"|directly|explicitly"
    r"|specifically|actually|fully|clearly|even|also|appear|seem|support|identify|note)"
)
_INFO: Final = (
    r"(?:information|mention|details?|reference|indication|data|documentation|evidence|answer|statement|specifics"
    r"|discussion|context|guidance|sources?|passages?|documents?)"
)

# Without one of these words no wording below fits; most sentences have none, and the look is cheap.
NEGATION: Final = re.compile(
    r"not\b|n['’]t\b|\bno\b|none|neither|nothing|never|nowhere|lack|fail|silent|\bun(?:clear|known|able|specified"
    r"|stated|documented|mentioned)"
    r"|insufficient|outside|beyond|too little|nicht|kein|\bn['’e]|\baucun|没|未|无法|不|ません|ない",
    _I,
)
NOT_COVERED: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        (
            rf"\b(?:{SOURCES}|{_NAMED})\s(?:simply\s)?(?:(?:do|does|did)(?: not|n['’]t)|cannot"
            rf"|can['’]t)\s(?:\w+ly\s)?{_TELL}\b"
        ),
        rf"\b{SOURCES}\s{_NO}\b",
        (
            rf"(?:\bnot|n['’]t|\bnever|\bnowhere|\bun)\s?(?:be(?:en)?\s)?(?:\w+ly\s)?(?:mentioned|stated|specified"
            rf"|covered"
            rf"|documented|described|provided"
            rf"|found|included|addressed|available|given|listed|discussed|contained|explained|present|defined"
            rf"|indicated"
            rf"|detailed|clear|disclosed)"
            rf"\s(?:anywhere\s)?(?:in|by|from|within)\s{SOURCES}"
        ),
        rf"\b(?:none|neither|nothing)\s(?:of\s|in\s){SOURCES}",
        rf"\bthere(?:['’]s| is| are| was| were)\sno\s[^.,;]{{1,80}}\s(?:in|anywhere in)\s{SOURCES}",
        rf"(?:\bnot|n['’]t)\s(?:part of|in|among)\s(?:{SOURCES}|(?:what|anything|the parts?) (?:of the \w+ )?i\b)",
        (
            r"\b(?:i|we)(?:['’]m| am| are|['’]re)?\s(?:was |were )?(?:\w+ly )?(?:sorry,? but i )?(?:can ?not|can['’]t"
            r"|could ?n['’]t|could not|unable to"
            r"|not able to|did ?n['’]t|did not|do ?n['’]t|do not)\s(?:\w+ly )?(?:find|locate|see|determine|answer"
            r"|tell"
            r"|say|confirm|know|have"
            r"(?: \w+)?(?: \w+)? (?:information|access|data|details|documentation|context|evidence|answer|knowledge)"
            r"|provide|give|verify|identify|help)\b"
        ),
        (
            rf"\bthere(?:['’]s| is| are| was| were)(?: simply| currently| also)? (?:no|not (?:any|enough)"
            rf"|insufficient)\s(?:\w+\s)?{_INFO}\b"
        ),
        (
            rf"^(?:unfortunately,?\s|sorry,?\s|however,?\s)?no\s(?:\w+\s)?{_INFO}\s(?:\w+\s){{0,6}}?(?:is|are|was"
            rf"|were"
            rf"|could be|can be|has been|found)\b"
        ),
        (
            r"\b(?:i|we) do ?n['’]t know\b|^(?:i['’]m |i am )?not sure\b|\b(?:it|this|that) (?:is|['’]s) (?:not"
            r"|un)\s?(?:clear|specified|stated|documented|known|mentioned)\b"
        ),
        (
            r"\b(?:the|this|your) question (?:can ?not|can['’]t|could not|is not|isn['’]t|is outside|falls outside"
            r"|goes beyond)\b"
        ),
        r"\b(?:is|are|falls?|lies?) (?:outside|beyond) (?:of )?(?:the )?(?:scope|what)\b",
        r"\bas an ai\b.*\b(?:do not|don['’]t|cannot|can['’]t)\b",
        (
            r"^(?:not (?:covered|found|stated|specified|mentioned|documented|available|in the (?:docs|documentation"
            r"|context))|unknown|no answer(?: found)?"
            r"|insufficient (?:information|context|evidence))(?: in [^.]{1,40})?\s*[.!]?$"
        ),
        r"\b(?:not enough|insufficient|too little) (?:information|context|detail|evidence|data)\b",
        (
            r"(?:dokumentation|dokumente?n?|unterlagen|quellen?|kontext|textstellen|passagen"
            r"|texte?)\b.{0,60}\b(?:nicht"
            r"|kein|keine|keinen|keinerlei)\b"
            r"|\b(?:nicht|kein|keine|keinen|keinerlei)\b.{0,80}\b(?:dokumentation|dokumenten?|unterlagen|quellen?"
            r"|kontext|textstellen|passagen)\b"
            r"|\bich (?:kann|konnte|weiß|finde|habe)\b.{0,80}\b(?:nicht|keine?n?)\b"
        ),
        (
            r"\b(?:la|les|le|ces|cette) (?:documentation|documents?|passages?|sources?|contexte"
            r"|extraits?)\b.{0,40}\bn(?:e|['’]).{1,30}\b(?:pas|aucune?|rien)\b"
            r"|\bje n(?:e|['’]).{1,30}\bpas\b|\baucune? (?:information|mention)\b"
        ),
        (
            r"\b(?:la|los|las|el) (?:documentación|documentos?|pasajes?|fuentes?|contexto"
            r"|información)\b.{0,40}\bno (?:dice|menciona|especifica|contiene|indica"
            r"|incluye|proporciona|cubre|dicen|mencionan|contienen|indican)\b|\bno (?:encuentro|encontré|sé|puedo"
            r"|hay información|se menciona)\b"
        ),
        (
            r"(?:文档|文件|资料|上下文|段落|来源|内容|信息).{0,20}(?:没有|未|并未|不包含|不足)|(?:没有|未).{0,6}(?:找到|提供|提及|说明|提到).{0,30}(?:信息|内容"
            r"|资料)?|我不知道|无法(?:回答|确定|找到)"
        ),
        (
            r"(?:ドキュメント|文書|資料|コンテキスト|文脈|情報).{0,30}(?:記載|言及|情報|説明|含ま).{0,8}(?:ありません|ていません|れていません|ない)|(?:記載|言及"
            r"|説明)(?:が|は"
            r"|も)?(?:ありません|ございません|されていません|ない)|(?:わかりません|分かりません|見つかりません|不明です)"
        ),
    )
)
# The answer says that its sources fall short of all, not that they hold nothing.
PARTIAL: Final = re.compile(
    r"\b(?:exact|exactly|explicitly|specifically|fully|complete(?:ly)?|entire(?:ly)?|further|additional|more|other"
    r"|beyond|details?|detailed|precise(?:ly)?"
    r"|comprehensive|specifics|all|every|only|partial(?:ly)?|in full)\b",
    _I,
)
# A denial of the question as a whole, which it need not name.
ITSELF: Final = re.compile(
    r"\b(?:this|i|we|the answer|the requested|your (?:question|request|query)|the question|what you(?:['’]re"
    r"| are)? ask(?:ing|ed)?)\b"
    r"|\b(?:it|that)\W*$|\b(?:about|on|regarding|for|of|to) (?:it|that)\b",
    _I,
)
# An answer given all the same, from general knowledge or by guess.
HEDGE: Final = re.compile(
    r"\b(?:in general|generally|typically|usually|normally|commonly|in most cases|probably|likely|presumably"
    r"|perhaps|i (?:believe|think|assume|guess)"
    r"|i(?:['’]d| would) (?:expect|assume|guess)|appears? to be|seems? to be|from (?:my )?general knowledge"
    r"|based on general|as a rule|in practice"
    r"|allgemein|normalerweise|üblicherweise|vermutlich|en général|généralement|probablement|en general|normalmente"
    r"|probablemente)\b|通常|一般|可能|おそらく",
    _I,
)
# What the sources do hold, said in place of an answer.
SOURCES_HOLD: Final = re.compile(
    rf"^(?:(?:however|instead|rather|but|while),?\s)?(?:{SOURCES}|it|they)(?:\s(?:only|instead|mainly|primarily"
    rf"|just|do|does|mostly))*\s"
    r"(?:cover|discuss|focus|describe|talk|concern|relate|refer|deal|mention|address|contain|include|provide"
    r"|are about|is about)(?:s|es)?\b",
    _I,
)
ADVICE: Final = re.compile(
    r"^(?:\W*(?:so|therefore|in that case|for (?:that|this|more|further|the)[^,.]{0,60}),?\s)?(?:please|i(?:['’]d"
    r"| would)? (?:recommend|suggest|advise)|you (?:may|might|can|could|should|will need to)"
    r"(?: want to| need to| also)?|try|it(?:['’]s| is) (?:best|recommended) to|consider|feel free to|to (?:find|get"
    r"|learn|determine)[^,]{1,60},)?\s?"
    r"(?:contact(?:ing)?|consult(?:ing)?|check(?:ing)?|refer(?:ring)? to|reach(?:ing)? out|see|visit(?:ing)?"
    r"|ask(?:ing)?|look(?:ing)? (?:at|up|into)|review(?:ing)?|provide|share|clarify|rephrase)\b",
    _I,
)

GREETINGS: Final = tuple(
    re.compile(pattern, _I)
    for pattern in (
        (
            r"^(?:hi|hello|hey|hallo|bonjour|hola|dear \w+|good (?:morning|afternoon|evening)"
            r"|welcome)(?:[ ,]+(?:there"
            r"|all|everyone|team))?\s*[!.,]*$"
        ),
        r"^(?:hi|hello|hey)(?: there)?[,!]\s(?:thanks?|thank you|i['’]m|i am|how can)\b",
        (
            r"^(?:sure|certainly|of course|absolutely|definitely|great|good|excellent|happy to help|no problem|okay"
            r"|ok"
            r"|gern|gerne|natürlich|klar|bien sûr|claro|por supuesto|当然|好的|您好|你好|はい、喜んで|こんにちは)"
            r"(?: thing)?(?:[,!.]? (?:i(?:['’]d| would| can"
            r"|['’]ll| will) (?:be )?(?:happy|glad|help).*|happy to help.*))?\s*[!.。！,]*$"
        ),
        (
            r"^(?:(?:that['’]s|this is|what) an? )?(?:great|good|excellent|interesting|very good"
            r"|nice) question\b[^.]{0,60}[.!]*$"
        ),
        r"^thank(?:s| you)\b[^.]{0,80}[.!]*$",
        r"^(?:danke|merci|gracias|谢谢|ありがとうございます)\b[^.。]{0,40}[.!。！]*$",
        (
            r"^(?:i )?(?:really )?hope (?:that |this |it )?(?:this |that |it )?(?:helps?|answers?|clarif|is|was"
            r"|assists?)\b"
        ),
        (
            r"^if you (?:have|need|would like|['’]d like|want|require)\b[^.]{0,80}\b(?:question|help|assistance"
            r"|clarification|let me|more details?|i can|i['’]ll|just ask|further)\b"
        ),
        (
            r"^(?:i['’]m|i am|i(?:['’]d| would) be|i['’]ll be) (?:happy|glad|here) to (?:help|assist|provide|explain"
            r"|answer)\b"
        ),
        r"^(?:i['’]m (?:very |so )?sorry|my apologies|i apologi[sz]e|sorry)(?: (?:for|about) [^.,]{1,60})?\s*[.!]*$",
        (
            r"^(?:you['’]re welcome|my pleasure|have a (?:great|nice|good) \w+|good luck|best regards|cheers"
            r"|happy \w+ing|enjoy)\b[^.]{0,30}[.!]*$"
        ),
        (
            r"^ich hoffe,? (?:das|dies|es) hilft|^(?:lassen sie mich|lass mich) wissen|^j['’]espère que"
            r"|^n['’]hésitez pas|^espero que|^no dude[ns]? en"
        ),
        r"^[\[(]\s?(?:word count:?\s?\d+|\d+ words)\s?[\])]\W*$",
        r"^希望(?:这|以上|对您|对你|能)|^如(?:果您?)?(?:有|需).{0,20}(?:请|随时)|(?:お役に立|お気軽に|ご不明な点)",
        (
            r"^(?:let['’]s|i['’]ll|i will|let me) (?:break|walk|explain|go (?:through|over)|take|summarize|look|dive"
            r"|start|see|answer)\b[^.]{0,80}[.:!]*$"
        ),
    )
)
OFFER: Final = re.compile(
    r"\b(?:let me know (?:if|whether|how|what|should|which)|feel free to (?:ask|reach|let|contact|share|provide)"
    r"|(?:don['’]t|do not) hesitate to)\b",
    _I,
)
LEADING_GREETING: Final = re.compile(
    r"^(?:(?:sure(?: thing)?|certainly|of course|absolutely|great question|good question|happy to help|gerne"
    r"|natürlich|bien sûr|claro|当然|好的)\s*[,!，！:–—-]+\s*"
    r"|(?:hi|hello|hey)(?: there)?[,!]\s+|(?:i['’]m |i am )?sorry,\s(?:but\s)?|unfortunately,\s)(?=\S)",
    _I,
)
# A line that only presents what comes next.
PRESENTING: Final = re.compile(
    r"^(?:(?:so|overall|in summary|to summarize|additionally|also|and),?\s)?(?:here(?:['’]s| is| are)\b"
    r"|(?:the )?following\b|below (?:is|are)\b|(?:these|this) (?:is|are|include)s?\b"
    r"|(?:some |a few )?(?:other |more )?(?:key |main |important )*(?:examples?|points?|insights?|takeaways?|notes?"
    r"|details?|features?|benefits?|steps?|summary|overview|highlights?|considerations?|conclusions?)\b"
    r"|in (?:summary|short|conclusion|other words|brief)\b|to (?:summarize|sum up|conclude)|(?:please )?(?:note"
    r"|consider) (?:that )?the following|(?:for )?example\b|e\.g\.|specifically\b|that is\b|note\b|answer\b"
    r"|summary\b|result\b)"
    r"|(?:as follows|the following|listed below|shown below|following (?:steps|ways|points|examples))\s*[:.：]*$"
    r"|^(?:hier (?:ist|sind)|folgende|voici|ci-dessous|aquí (?:está|están)|a continuación|以下|如下|次の)",
    _I,
)
ANNOUNCING: Final = re.compile(
    r"^(?:(?:so|overall|in summary|to summarize),?\s)?here(?:['’]s| is| are)\b"
    r"|\b(?:as follows|the following|listed below|shown below|given below|below)\s*[:.：]*$",
    _I,
)
EMPTY_HEADING: Final = re.compile(
    r"^\W*(?:\d+[.)]\s*)?(?:summary|overview|key (?:points|takeaways|facts|findings|insights)|takeaways|answer"
    r"|short answer|details?|notes?|important notes?"
    r"|conclusion|introduction|background|explanation|tl;?dr|examples?|result|response|in short|highlights"
    r"|zusammenfassung|antwort|résumé|resumen)\W*$",
    _I,
)
META_INTRO: Final = re.compile(
    r"^(?:[^,]{0,40},\s)?here(?:['’]s| is| are)\b.{0,40}\b(?:summary|breakdown|rundown|overview|insights?"
    r"|takeaways?|highlights?|(?:key|main"
    r"|bullet) points?|examples?|details?|answers?)\b",
    _I,
)
SOURCES_ONLY: Final = re.compile(r"\b(?:only|instead|mainly|primarily|mostly|rather|nur|seulement|solo)\b", _I)
SOURCE_LIST: Final = re.compile(
    r"^(?:sources?|references?|citations?|cited (?:sources|documents|passages)|works cited|footnotes?|quellen?"
    r"|quellenangaben|fuentes|références|参考(?:文献|资料)?|来源|出典|引用)"
    r"(?: (?:used|cited|consulted))?\s*[:：]?$",
    _I,
)
SOURCE_NOTE: Final = re.compile(
    r"^(?:this|these|it|that|examples)\s(?:(?:is|was|are|were|can be)\s)?(?:also\s)?(?:seen|evident|mentioned"
    r"|discussed|highlighted|covered|observed|demonstrated"
    r"|illustrated|shown|noted|found|supported|cited|stated|described|documented)\s(?:in|by)\s?(?:the\s|several\s"
    r"|various\s)?(?:conversations?|articles?|documents?|passages?"
    r"|sources?)?[\s,;.and&]*$|^\(?(?:sources?|references?|ref|see|cf\.?|quellen?|fuente|来源"
    r"|出典)\s*[:：]?[\s,;)(.and&]*$",
    _I,
)

CONNECTIVE: Final = re.compile(
    r"^(?:so|in short|in summary|in conclusion|overall|to summarize|to sum up|therefore|thus|hence|in other words"
    r"|that is|again|also|additionally"
    r"|furthermore|moreover|note that|please note that|as noted|as mentioned(?: above| earlier)?)\b[\s,:]*",
    _I,
)
CONTRAST: Final = re.compile(
    r",?\s+(?:but|however|although|though|yet|aber|jedoch|mais|pero)\b,?\s*|[，,；;]?(?:但是?|しかし|ただし)[，、,]?",
    _I,
)
