"""What the rules know about words. English, with what little other languages need."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that say nothing about what a sentence is about.
STOPWORDS = _words(
    "a about above across after again against all almost also although always am among an and another any anybody anyone "
    "anything are as at away back be became because become been before behind being below beneath beside besides between "
    "beyond both but by came can cannot come could did do does doing done down during each either else enough even ever "
    "every everybody everyone everything few for from get gets give given go goes going gone got had half has have having "
    "he hence her here hers herself him himself his how however i if in indeed instead into is it its itself just last later "
    "least less let like made make many may me might mine more most much must my myself near neither never next no nobody "
    "none nor not nothing now of off often on once one only onto or other others our ours ourselves out over own per perhaps "
    "please put quite rather same several shall she should since so some somebody someone something soon still such than that "
    "the their theirs them themselves then there therefore these they thing this those though through thus till to together "
    "too toward towards two under until up upon us used very was way we well went were what whatever when where whether which "
    "while who whole whom whose why will with within without would yes yet you your yours yourself im ive dont didnt doesnt "
    "isnt wasnt cant couldnt wouldnt thats theres know tell told say says said saying tells know known"
)

# Words with which sentences begin; in front of a name they do not belong to it.
SENTENCE_STARTERS = STOPWORDS | _words(
    "above according ah alas anyway around below certainly dear despite earlier eight eleven except fifty finally five "
    "forty four further good hello hundred inside listen look maybe meanwhile moreover nearly nevertheless nine nobody "
    "nor note now oh ok okay outside perhaps please seven sir six sometimes somewhere suddenly ten thank thanks thirty "
    "thousand three today tomorrow tonight twelve twenty unless unlike whoever yesterday walking looking going following "
    "halfway best mine please beside ma'am madam"
)

TITLES = dict.fromkeys(
    [
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "master",
        "madam",
        "madame",
        "dr",
        "doctor",
        "prof",
        "professor",
        "sir",
        "dame",
        "lady",
        "lord",
        "baron",
        "baroness",
        "count",
        "countess",
        "duke",
        "duchess",
        "earl",
        "viscount",
        "king",
        "queen",
        "prince",
        "princess",
        "emperor",
        "empress",
        "tsar",
        "sultan",
        "pope",
        "cardinal",
        "bishop",
        "archbishop",
        "abbot",
        "abbess",
        "father",
        "brother",
        "sister",
        "mother",
        "rev",
        "reverend",
        "rabbi",
        "imam",
        "st",
        "saint",
        "inspector",
        "sergeant",
        "sgt",
        "constable",
        "detective",
        "superintendent",
        "commissioner",
        "captain",
        "capt",
        "colonel",
        "col",
        "general",
        "gen",
        "major",
        "maj",
        "lieutenant",
        "lt",
        "corporal",
        "cpl",
        "private",
        "admiral",
        "commander",
        "commodore",
        "marshal",
        "president",
        "vice-president",
        "chancellor",
        "premier",
        "minister",
        "senator",
        "representative",
        "congressman",
        "congresswoman",
        "governor",
        "mayor",
        "councillor",
        "alderman",
        "ambassador",
        "consul",
        "judge",
        "justice",
        "attorney",
        "secretary",
        "chairman",
        "chairwoman",
        "chairperson",
        "director",
        "engineer",
        "nurse",
        "uncle",
        "aunt",
        "grandfather",
        "grandmother",
        "cousin",
        "herr",
        "frau",
        "monsieur",
        "mme",
        "mlle",
        "señor",
        "señora",
        "signor",
        "don",
    ],
    True,
)

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
CALENDAR_WORDS = _words(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday christmas easter spring summer autumn winter year"
)

# Adjectives of nations are no names of their own.
DEMONYMS = _words(
    "english british scottish irish welsh french german italian spanish portuguese dutch belgian swiss austrian danish "
    "swedish norwegian finnish polish russian ukrainian greek turkish roman latin american canadian mexican brazilian "
    "chinese japanese korean indian african european asian arab arabic jewish christian catholic protestant muslim "
    "victorian edwardian"
)

# Heads, that is main words, by the type that they give a name; the last word of a name counts most.
_HEADS = {
    "document": (
        "act acts bill statute statutes ordinance decree treaty charter constitution agreement contract covenant patent "
        "report reports memorandum letter ledger register catalogue chronicle log logbook diary journal manual handbook "
        "section article clause chapter directive regulation regulations resolution code protocol declaration will "
        "testament gospel bible deed dictionary encyclopedia return statement hansard specification rfc"
    ),
    "organization": (
        "company co corporation corp inc ltd limited llc llp plc gmbh ag firm sons brothers partners society association "
        "union committee council ministry department board office bureau commission commissioners constabulary police "
        "university college school academy institute institution bank trust fund foundation railway railways works "
        "museum library party parliament congress senate assembly court tribunal agency authority administration guild "
        "league federation confederation regiment battalion brigade army navy fleet press times gazette herald "
        "chronicle post courier tribune observer guardian telegraph group club team orchestra church order service "
        "services laboratory laboratories hospital clinic exchange insurance mill shipyard cooperative government "
        "cabinet crown"
    ),
    "event": (
        "war battle siege revolution rebellion uprising strike riot massacre festival fair exhibition conference congress "
        "summit election referendum olympics cup championship crisis depression earthquake flood hurricane storm tide "
        "fire wreck disaster accident inquiry trial ball coronation wedding funeral massacre pandemic plague famine"
    ),
    "artifact": (
        "clock engine machine lamp lantern light-ship key bell locomotive train car boat ship yacht ferry dredger winch "
        "telescope rifle gun sword knife crown diamond necklace ring painting portrait statue wheel dial bearing bucket "
        "drum pump motor aircraft plane rocket satellite telescope microscope computer server database api browser app "
        "software system network protocol router reactor piano violin organ candle box safe chest door panel lens"
    ),
    "location": (
        "house street road lane avenue square place inn hotel hall castle palace manor abbey chapel cathedral minster "
        "monastery priory bay quay dock harbour harbor port pier wharf island islands isle isles holm lake loch river "
        "stream brook canal mount mountain mountains hill hills valley vale dale gorge moor heath forest wood woods park "
        "garden gardens bridge station tower lighthouse light beacon village town city county shire borough parish "
        "province state states republic kingdom empire duchy principality coast sea ocean gulf strait channel beach cove "
        "cape point head ness farm cottage lodge gate steps stair stairs causeway cave cavern tunnel mine quarry desert "
        "plain plateau peninsula north south east west theatre theater arena stadium airport prison cemetery market mews "
        "terrace yard crescent reef rock rocks cliff cliffs"
    ),
}  # fmt: skip
HEAD_TYPES: dict[str, str] = {}
for _kind, _text in _HEADS.items():
    for _head in _text.split():
        HEAD_TYPES.setdefault(_head, _kind)

# Words that begin a name and tell its type.
FIRST_TYPES = {
    "mount": "location", "lake": "location", "cape": "location", "river": "location", "port": "location",
    "fort": "location", "isle": "location", "gulf": "location", "bay": "location", "point": "location",
    "hms": "artifact", "ss": "artifact", "uss": "artifact", "rms": "artifact", "mv": "artifact",
    "patent": "document", "treaty": "document", "bank": "organization", "ministry": "organization",
    "university": "organization", "battle": "event", "siege": "event",
}  # fmt: skip

# Names that go on behind ``of``: ``Bank of England``, but not ``Ada Byron of London``.
OF_HEADS = _words(
    "bank ministry house board department university duchy isle court republic kingdom city county bay gulf cape treaty "
    "battle siege church college museum institute academy society order office state states province port bureau council "
    "association union federation chamber guild company league school faculty declaration charter book gospel "
    "king queen prince princess duke duchess earl bishop archbishop mayor lord commissioner secretary "
    "minister president speaker knights daughters sons tower temple bridge straits strait sea mount valley "
    "river town village commonwealth empire principality assembly archdiocese diocese"
)
# Names that may begin with ``X and``: ``Iron and Dredging Company``.
AND_HEADS = _words(
    "company co sons son brothers act bill railway ltd limited partners office department committee society commission "
    "ministry association council board union trust bank agency authority corporation institute"
)
# Names that may end with a number: ``Patent No. 2207``, ``Harbour Act 1903``.
NUMBER_HEADS = _words(
    "no no. nos number nr act bill section article chapter regulation order resolution law directive box case rule clause "
    "paragraph route highway flight apollo room unit unit platform pier part volume vol appendix schedule rfc"
)
# Generic heads that, capitalised and alone, stand for a longer name ending with them.
GENERIC_HEADS = frozenset(HEAD_TYPES) - {"will", "point", "light", "place", "head", "state", "order"}

# A small noun before a name tells what it is: ``the dredger Patience``.
APPOSITION_TYPES = {
    **dict.fromkeys(
        [
            "ship",
            "steamer",
            "dredger",
            "yacht",
            "schooner",
            "boat",
            "ferry",
            "launch",
            "submarine",
            "locomotive",
            "rocket",
            "satellite",
            "program",
            "tool",
            "library",
            "command",
            "table",
            "database",
            "server",
            "service",
            "clock",
            "bell",
            "painting",
        ],
        "artifact",
    ),
    **dict.fromkeys(
        [
            "town",
            "village",
            "city",
            "hamlet",
            "port",
            "island",
            "river",
            "lake",
            "mountain",
            "parish",
            "county",
            "country",
        ],
        "location",
    ),
    **dict.fromkeys(
        ["company", "firm", "bank", "newspaper", "society", "club", "band", "party", "agency"], "organization"
    ),
    **dict.fromkeys(["book", "novel", "play", "poem", "act", "bill", "treaty", "film", "serial", "song"], "document"),
}

SPEECH_VERBS = _words(
    "said says asked asks replied replies answered answers cried whispered told tells shouted called added explained wrote "
    "writes murmured muttered declared insisted admitted observed remarked thought smiled laughed nodded sighed shrugged "
    "repeated began spoke speaks"
)
PERSON_VERBS = SPEECH_VERBS | _words(
    "was is had has knew knows saw sees looked looks walked walks sat stood came went took gave found lived lives died "
    "married born wept slept woke rose turned knelt paid pays owned owns signed sent wrecked murdered killed commanded signs works wants"
)

PLACE_PREPOSITIONS = _words("in at from to near of over through into towards toward via around across outside inside")

ROLE_NOUNS = _words(
    "inspector sergeant doctor captain professor housekeeper solicitor lawyer engineer clockmaker keeper postman landlady "
    "manager clerk ferryman judge detective constable nurse butler gardener cook maid king queen bishop abbot mayor "
    "minister president chairman director secretary chief foreman midwife magistrate vicar priest major colonel"
)

GIVEN_NAMES = _words(
    "aaron abigail abraham ada adam adele agnes alan albert alexander alfred alice amelia amy andrea andrew angela ann anna "
    "anne anthony antonio arthur audrey augustin barbara barnaby benjamin bernard bertha betty bill bob boris bram carl carla "
    "carlos carol caroline catherine cecilia charles charlotte chloe chris christian christina christopher clara claire "
    "claude clement cornelius daniel david deborah denis diana dmitri dorothy douglas edda edgar edith edmund edward edwin "
    "eleanor elena elias elizabeth ella ellen emil emily emma eric ernest esther ethel eva evelyn everard felix fiona florence "
    "frances francis frank franz fred frederick gabriel george georg gerald gertrude godwin grace graham gregory guy hannah "
    "hans harold harriet harry heinrich helen henri henry herbert hester hilda howard hugh hugo ian ida igor ines irene isaac "
    "isabel isabella ismene ivan jack jacob james jan jane janet jean jennifer jerome jessica joan johann john jonas jonathan "
    "jory jose joseph josephine joshua joyce juan judith julia julian julius karen karl kate katherine keith kenneth laura "
    "lawrence leo leon leonard lewis lily linda lisa louis louise lucas lucian lucy luke magdalena marcel marcus margaret maria "
    "marian marie marion mark martha martin mary matilda matthew matthias maud max maya michael miguel miriam mohammed molly "
    "monica nancy natalie nathan nicholas nicole nina nora norman olga oliver olivia oscar oswald otto ottoline pamela patricia "
    "patrick paul paula pedro penelope perpetua peter philip phyllis pierre rachel ralph raymond rebecca richard robert robin "
    "roger roland ronald rosa rosamund rose roy rudolf rupert ruth samuel sandra sara sarah sebastian sergei silvan simon "
    "sofia sophia sophie stanley stella stephen steven susan sylvia tamsin theodore theresa thomas timothy tom victor victoria "
    "vincent viola virginia vivian walter wanda werner wilfred wilhelm william winifred yuri yvonne"
)

PLACE_NAMES = _words(
    "africa america asia australia austria belgium berlin brazil britain brussels bulgaria canada chicago china cyprus "
    "denmark dublin edinburgh egypt england europe finland france geneva germany glasgow greece hungary iceland india "
    "indonesia iran iraq ireland israel istanbul italy japan kenya kyiv liverpool lisbon london luxembourg madrid manchester "
    "mexico milan moscow munich netherlands nigeria norway oslo oxford paris pakistan philippines poland portugal prague rome "
    "romania russia scotland serbia singapore spain stockholm sweden switzerland sydney tokyo toronto turkey ukraine vienna "
    "vietnam wales warsaw washington zurich"
)

# Adjectives with which a noun does not become a thing of its own.
PLAIN_ADJECTIVES = _words(
    "same other whole next last first second third fourth fifth old new young dead only great little big small good bad best "
    "present past long short high low early late right wrong left few several many single very own following certain "
    "general common possible necessary important different various total current previous main full half more less such large "
    "silent quiet straight heavy black white red green blue brown grey yellow dark bright cold warm wet dry"
)

# Japanese and Chinese endings that tell the type of a name.
CJK_SUFFIX_TYPES = (
    ("organization", ("株式会社", "会社", "公司", "大学", "学院", "银行", "銀行", "委员会", "委員会", "协会", "協会", "党", "省厅", "報社")),
    ("location", ("市", "県", "省", "县", "町", "村", "区", "國", "国", "州", "島", "岛", "川", "江", "湖", "山", "港", "駅", "站", "城", "橋", "桥")),
    ("person", ("先生", "女士", "さん", "様", "氏", "博士", "教授", "医生", "警部")),
    ("document", ("法", "条例", "条約", "条约", "报告", "報告", "法案")),
)  # fmt: skip
CJK_FUNCTION_CHARACTERS = frozenset(
    "的了是在和有不我你他她它们們这這那之与與也就都而及著着一个個上下为為以于於被把对對从從到说說去来來会會能可要没沒很"
    "吗呢吧啊又再但或若因所其此每各还還才只"
)
