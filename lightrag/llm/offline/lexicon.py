"""What the rules know about words. English, with what little other languages need."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that say nothing about what a sentence is about.
STOPWORDS = _words("""
    a about above across after again against all almost also although always am among an and another any anybody
    anyone anything are as at away back be became because become been before behind being below beneath beside besides
    between beyond both but by came can cannot cant come could couldnt did didnt do does doesnt doing done dont down
    during each either else enough even ever every everybody everyone everything few for from get gets give given go
    goes going gone got had half has have having he hence her here hers herself him himself his how however i if im in
    indeed instead into is isnt it its itself ive just know known last later least less let like made make many may me
    might mine more most much must my myself near neither never next no nobody none nor not nothing now of off often
    on once one only onto or other others our ours ourselves out over own per perhaps please put quite rather said
    same say saying says several shall she should since so some somebody someone something soon still such tell tells
    than that thats the their theirs them themselves then there therefore theres these they thing this those though
    through thus till to together told too toward towards two under until up upon us used very was wasnt way we well
    went were what whatever when where whether which while who whole whom whose why will with within without would
    wouldnt yes yet you your yours yourself
""")

# Words with which sentences begin; in front of a name they do not belong to it.
# Small words of other languages that begin sentences; enough of the German ones mean that every noun has a capital.
GERMAN_WORDS = _words("der die das den dem des ein eine einer eines und ist war mit von im am zum zur auf nicht sich")
FOREIGN_STARTERS = GERMAN_WORDS | _words("""
    le la les un une et en au aux il elle on ce cette dans pour el los las y una lo gli e nel della do os na no em uma
    в на и он она они с к по о у из за до от для не но а как что это его её
""")
SENTENCE_STARTERS = (
    STOPWORDS
    | FOREIGN_STARTERS
    | _words("""
    based born built called founded known located named
    above according ah alas anyway around below beside best certainly dear despite earlier eight eleven except fifty
    finally five following forty four further going good halfway hello hundred inside listen look looking ma'am madam
    maybe meanwhile mine moreover nearly nevertheless nine nobody nor note now oh ok okay outside perhaps please seven
    sir six sometimes somewhere suddenly ten thank thanks thirty thousand three today tomorrow tonight twelve twenty
    unless unlike walking whoever yesterday
""")
)

TITLES = _words("""
    abbess abbot admiral alderman ambassador archbishop attorney aunt baron baroness bishop brother capt captain
    cardinal chairman chairperson chairwoman chancellor col colonel commander commissioner commodore congressman
    congresswoman constable consul corporal councillor count countess cousin cpl dame detective director doctor don
    dr duchess duke earl emperor empress engineer father frau gen general governor grandfather grandmother herr imam
    inspector judge justice king lady lieutenant lord lt madam madame maj major marshal master mayor minister miss
    mlle mme monsieur mother mr mrs ms mx nurse pope premier president prince princess private prof professor queen
    rabbi representative rev reverend saint secretary senator sergeant señor señora sgt signor sir sister st sultan
    superintendent tsar uncle vice-president viscount
""")

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
CALENDAR_WORDS = _words("""
    april august autumn christmas december easter february friday january july june march may monday november october
    saturday september spring summer sunday thursday tuesday wednesday winter year
""")

# Adjectives of nations are no names of their own.
DEMONYMS = _words("""
    african american arab arabic asian austrian belgian brazilian british canadian catholic chinese christian danish
    dutch edwardian english european finnish french german greek indian irish italian japanese jewish korean latin
    mexican muslim norwegian polish portuguese protestant roman russian scottish spanish swedish swiss turkish
    ukrainian victorian welsh
""")

# Heads, that is main words, by the type that they give a name; the last word of a name counts most.
_HEADS = {
    "document": """
        act acts agreement article bible bill catalogue chapter charter chronicle clause code constitution contract
        covenant declaration decree deed diary dictionary directive encyclopedia gospel handbook hansard journal
        ledger letter log logbook manual memorandum ordinance patent protocol register regulation regulations report
        reports resolution return rfc section specification statement statute statutes testament treaty will
    """,
    "organization": """
        academy administration ag agency army assembly association authority bank battalion board brigade brothers
        bureau cabinet chronicle church clinic club co college commission commissioners committee company
        confederation congress constabulary cooperative corp corporation council courier court crown department
        exchange federation firm fleet foundation fund gazette gmbh government group guardian guild herald hospital
        inc institute institution insurance laboratories laboratory league library limited llc llp ltd mill ministry
        museum navy observer office orchestra order parliament partners party plc police post press railway railways
        regiment school senate service services shipyard society sons team telegraph times tribunal tribune trust
        union university works
    """,
    "event": """
        accident ball battle championship conference congress coronation crisis cup depression disaster earthquake
        election exhibition fair famine festival fire flood funeral hurricane inquiry massacre olympics pandemic
        plague rebellion referendum revolution riot siege storm strike summit tide trial uprising war wedding wreck
    """,
    "artifact": """
        aircraft api app bearing bell boat box browser bucket candle car chest clock computer crown database dial
        diamond door dredger drum engine ferry gun key knife lamp lantern lens light-ship locomotive machine
        microscope motor necklace network organ painting panel piano plane portrait protocol pump reactor rifle ring
        rocket router safe satellite server ship software statue sword system telescope train violin wheel winch yacht
    """,
    "location": """
        abbey airport arena avenue bay beach beacon borough bridge brook canal cape castle cathedral causeway cave
        cavern cemetery channel chapel city cliff cliffs coast cottage county cove crescent dale desert dock duchy
        east empire farm forest garden gardens gate gorge gulf hall harbor harbour head heath hill hills holm hotel
        house inn island islands isle isles kingdom lake lane light lighthouse loch lodge manor market mews mine
        minster monastery moor mount mountain mountains ness north ocean palace parish park peninsula pier place plain
        plateau point port principality priory prison province quarry quay reef republic river road rock rocks sea
        shire south square stadium stair stairs state states station steps strait stream street terrace theater
        theatre tower town tunnel vale valley village west wharf wood woods yard
    """,
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
OF_HEADS = _words("""
    academy archbishop archdiocese assembly association bank battle bay bishop board book bridge bureau cape chamber
    charter church city college commissioner commonwealth company council county court daughters declaration
    department diocese duchess duchy duke earl empire faculty federation gospel guild gulf house institute isle king
    kingdom knights league lord mayor minister ministry mount museum office order port president prince princess
    principality province queen republic river school sea secretary siege society sons speaker state states strait
    straits temple tower town treaty union university valley village
""")
# Names that may begin with ``X and``: ``Iron and Dredging Company``.
AND_HEADS = _words("""
    act agency association authority bank bill board brothers co commission committee company corporation council
    department institute limited ltd ministry office partners railway society son sons trust union
""")
# Names that may end with a number: ``Patent No. 2207``, ``Harbour Act 1903``.
NUMBER_HEADS = _words("""
    act apollo appendix article bill box case chapter clause directive flight highway law no no. nos nr number order
    paragraph part pier platform regulation resolution rfc room route rule schedule section unit vol volume
""")
# Generic heads that, capitalised and alone, stand for a longer name ending with them.
GENERIC_HEADS = frozenset(HEAD_TYPES) - {"will", "point", "light", "place", "head", "state", "order"}

# A small noun before a name tells what it is: ``the dredger Patience``.
APPOSITION_TYPES: dict[str, str] = {}
for _kind, _text in {
    "artifact": """
        ship steamer dredger yacht schooner boat ferry launch submarine locomotive rocket satellite program tool
        library command table database server service clock bell painting
    """,
    "location": """
        town village city hamlet port island river lake mountain parish county country
    """,
    "organization": """
        company firm bank newspaper society club band party agency
    """,
    "document": """
        book novel play poem act bill treaty film serial song
    """,
}.items():
    APPOSITION_TYPES.update(dict.fromkeys(_text.split(), _kind))

SPEECH_VERBS = _words("""
    added admitted answered answers asked asks began called cried declared explained insisted laughed murmured
    muttered nodded observed remarked repeated replied replies said says shouted shrugged sighed smiled speaks spoke
    tells thought told whispered writes wrote
""")
PERSON_VERBS = SPEECH_VERBS | _words("""
    born came commanded died found gave had has is killed knelt knew knows lived lives looked looks married murdered
    owned owns paid pays rose sat saw sees sent signed slept stood took turned walked walks was went wept woke
    wrecked
""")

PLACE_PREPOSITIONS = _words("in at from to near of over through into towards toward via around across outside inside")

ROLE_NOUNS = _words("""
    abbot bishop butler captain chairman chief clerk clockmaker colonel constable cook detective director doctor
    engineer ferryman foreman gardener housekeeper inspector judge keeper king landlady lawyer magistrate maid major
    manager mayor midwife minister nurse postman president priest professor queen secretary sergeant solicitor vicar
""")

GIVEN_NAMES = _words("""
    aaron abigail abraham ada adam adele agnes alan albert alexander alfred alice amelia amy andrea andrew angela ann
    anna anne anthony antonio arthur audrey augustin barbara barnaby benjamin bernard bertha betty bill bob boris bram
    carl carla carlos carol caroline catherine cecilia charles charlotte chloe chris christian christina christopher
    claire clara claude clement cornelius daniel david deborah denis diana dmitri dorothy douglas edda edgar edith
    edmund edward edwin eleanor elena elias elizabeth ella ellen emil emily emma eric ernest esther ethel eva evelyn
    everard felix fiona florence frances francis frank franz fred frederick gabriel georg george gerald gertrude
    godwin grace graham gregory guy hannah hans harold harriet harry heinrich helen henri henry herbert hester hilda
    howard hugh hugo ian ida igor ines irene isaac isabel isabella ismene ivan jack jacob james jan jane janet jean
    jennifer jerome jessica joan johann john jonas jonathan jory jose joseph josephine joshua joyce juan judith julia
    julian julius karen karl kate katherine keith kenneth laura lawrence leo leon leonard lewis lily linda lisa louis
    louise lucas lucian lucy luke magdalena marcel marcus margaret maria marian marie marion mark martha martin mary
    matilda matthew matthias maud max maya michael miguel miriam mohammed molly monica nancy natalie nathan nicholas
    nicole nina nora norman olga oliver olivia oscar oswald otto ottoline pamela patricia patrick paul paula pedro
    penelope perpetua peter philip phyllis pierre rachel ralph raymond rebecca richard robert robin roger roland
    ronald rosa rosamund rose roy rudolf rupert ruth samuel sandra sara sarah sebastian sergei silvan simon sofia
    sophia sophie stanley stella stephen steven susan sylvia tamsin theodore theresa thomas timothy tom victor
    victoria vincent viola virginia vivian walter wanda werner wilfred wilhelm william winifred yuri yvonne
""")

PLACE_NAMES = _words("""
    africa america asia australia austria belgium berlin brazil britain brussels bulgaria canada chicago china cyprus
    denmark dublin edinburgh egypt england europe finland france geneva germany glasgow greece hungary iceland india
    indonesia iran iraq ireland israel istanbul italy japan kenya kyiv lisbon liverpool london luxembourg madrid
    manchester mexico milan moscow munich netherlands nigeria norway oslo oxford pakistan paris philippines poland
    portugal prague romania rome russia scotland serbia singapore spain stockholm sweden switzerland sydney tokyo
    toronto turkey ukraine vienna vietnam wales warsaw washington zurich
""")

# Adjectives with which a noun does not become a thing of its own.
PLAIN_ADJECTIVES = _words("""
    bad best big black blue bright brown certain cold common current dark dead different dry early few fifth first
    following fourth full general good great green grey half heavy high important large last late left less little
    long low main many more necessary new next old only other own past possible present previous quiet red right same
    second several short silent single small straight such third total various very warm wet white whole wrong yellow
    young
""")

# Japanese and Chinese endings that tell the type of a name.
CJK_SUFFIX_TYPES = {
    "organization": "株式会社 会社 公司 大学 学院 银行 銀行 委员会 委員会 协会 協会 党 報社",
    "location": "市 県 省 县 町 村 区 國 国 州 島 岛 川 江 湖 山 港 駅 站 城 橋 桥",
    "person": "先生 女士 さん 様 氏 博士 教授 医生 警部",
    "document": "法 条例 条約 条约 报告 報告 法案",
}
# Chinese words that hold sentences together and are in no name.
CJK_FUNCTION_CHARACTERS = frozenset(
    "的了是在和有不我你他她它们們这這那之与與也就都而及著着一个個上下为為以于於被把對对從从到說说去來来會会能可要"
    "没沒很吗呢吧啊又再但或若因所其此每各还還才只"
)
