/*
 * property.c - the properties of characters in patterns of ECMA-262. PCRE2 has further names, reads
 * all of them loosely, and takes a script's name alone for Script_Extensions. So only the names in
 * these tables pass.
 */
#include "lib/schema/regex.h"

#include "lib/json/json_write.h"

/* Names, grouped by property; the first of each is PCRE2's, too. Two are left out: PCRE2 lacks
 * Changes_When_NFKC_Casefolded, and characters of Bidi_Mirrored. */
static const char categories[] =
    "L Letter;LC Cased_Letter;Lu Uppercase_Letter;Ll Lowercase_Letter;Lt Titlecase_Letter;Lm "
    "Modifier_Letter;Lo Other_Letter;M Mark Combining_Mark;Mn Nonspacing_Mark;Mc "
    "Spacing_Mark;Me Enclosing_Mark;N Number;Nd Decimal_Number digit;Nl Letter_Number;No "
    "Other_Number;P Punctuation punct;Pc Connector_Punctuation;Pd Dash_Punctuation;Ps "
    "Open_Punctuation;Pe Close_Punctuation;Pi Initial_Punctuation;Pf Final_Punctuation;Po "
    "Other_Punctuation;S Symbol;Sm Math_Symbol;Sc Currency_Symbol;Sk Modifier_Symbol;So "
    "Other_Symbol;Z Separator;Zs Space_Separator;Zl Line_Separator;Zp Paragraph_Separator;C "
    "Other;Cc Control cntrl;Cf Format;Cs Surrogate;Co Private_Use;Cn Unassigned;";
static const char scripts[] =
    "Adlm Adlam;Aghb Caucasian_Albanian;Ahom;Arab Arabic;Armi Imperial_Aramaic;Armn Armenian;"
    "Avst Avestan;Bali Balinese;Bamu Bamum;Bass Bassa_Vah;Batk Batak;Beng Bengali;Berf "
    "Beria_Erfe;Bhks Bhaiksuki;Bopo Bopomofo;Brah Brahmi;Brai Braille;Bugi Buginese;Buhd "
    "Buhid;Cakm Chakma;Cans Canadian_Aboriginal;Cari Carian;Cham;Cher Cherokee;Chrs "
    "Chorasmian;Copt Coptic Qaac;Cpmn Cypro_Minoan;Cprt Cypriot;Cyrl Cyrillic;Deva "
    "Devanagari;Diak Dives_Akuru;Dogr Dogra;Dsrt Deseret;Dupl Duployan;Egyp "
    "Egyptian_Hieroglyphs;Elba Elbasan;Elym Elymaic;Ethi Ethiopic;Gara Garay;Geor Georgian;"
    "Glag Glagolitic;Gong Gunjala_Gondi;Gonm Masaram_Gondi;Goth Gothic;Gran Grantha;Grek "
    "Greek;Gujr Gujarati;Gukh Gurung_Khema;Guru Gurmukhi;Hang Hangul;Hani Han;Hano Hanunoo;"
    "Hatr Hatran;Hebr Hebrew;Hira Hiragana;Hluw Anatolian_Hieroglyphs;Hmng Pahawh_Hmong;Hmnp "
    "Nyiakeng_Puachue_Hmong;Hung Old_Hungarian;Ital Old_Italic;Java Javanese;Kali Kayah_Li;"
    "Kana Katakana;Kawi;Khar Kharoshthi;Khmr Khmer;Khoj Khojki;Kits Khitan_Small_Script;Knda "
    "Kannada;Krai Kirat_Rai;Kthi Kaithi;Lana Tai_Tham;Laoo Lao;Latn Latin;Lepc Lepcha;Limb "
    "Limbu;Lina Linear_A;Linb Linear_B;Lisu;Lyci Lycian;Lydi Lydian;Mahj Mahajani;Maka "
    "Makasar;Mand Mandaic;Mani Manichaean;Marc Marchen;Medf Medefaidrin;Mend Mende_Kikakui;"
    "Merc Meroitic_Cursive;Mero Meroitic_Hieroglyphs;Mlym Malayalam;Modi;Mong Mongolian;Mroo "
    "Mro;Mtei Meetei_Mayek;Mult Multani;Mymr Myanmar;Nagm Nag_Mundari;Nand Nandinagari;Narb "
    "Old_North_Arabian;Nbat Nabataean;Newa;Nkoo Nko;Nshu Nushu;Ogam Ogham;Olck Ol_Chiki;Onao "
    "Ol_Onal;Orkh Old_Turkic;Orya Oriya;Osge Osage;Osma Osmanya;Ougr Old_Uyghur;Palm "
    "Palmyrene;Pauc Pau_Cin_Hau;Perm Old_Permic;Phag Phags_Pa;Phli Inscriptional_Pahlavi;"
    "Phlp Psalter_Pahlavi;Phnx Phoenician;Plrd Miao;Prti Inscriptional_Parthian;Rjng Rejang;"
    "Rohg Hanifi_Rohingya;Runr Runic;Samr Samaritan;Sarb Old_South_Arabian;Saur Saurashtra;"
    "Sgnw SignWriting;Shaw Shavian;Shrd Sharada;Sidd Siddham;Sidt Sidetic;Sind Khudawadi;"
    "Sinh Sinhala;Sogd Sogdian;Sogo Old_Sogdian;Sora Sora_Sompeng;Soyo Soyombo;Sund "
    "Sundanese;Sunu Sunuwar;Sylo Syloti_Nagri;Syrc Syriac;Tagb Tagbanwa;Takr Takri;Tale "
    "Tai_Le;Talu New_Tai_Lue;Taml Tamil;Tang Tangut;Tavt Tai_Viet;Tayo Tai_Yo;Telu Telugu;"
    "Tfng Tifinagh;Tglg Tagalog;Thaa Thaana;Thai;Tibt Tibetan;Tirh Tirhuta;Tnsa Tangsa;Todr "
    "Todhri;Tols Tolong_Siki;Toto;Tutg Tulu_Tigalari;Ugar Ugaritic;Vaii Vai;Vith Vithkuqi;"
    "Wara Warang_Citi;Wcho Wancho;Xpeo Old_Persian;Xsux Cuneiform;Yezi Yezidi;Yiii Yi;Zanb "
    "Zanabazar_Square;Zinh Inherited Qaai;Zyyy Common;Zzzz Unknown;";
static const char binaries[] =
    "ASCII;ASCII_Hex_Digit AHex;Alphabetic Alpha;Any;Bidi_Control Bidi_C;Case_Ignorable CI;"
    "Cased;Changes_When_Casefolded CWCF;Changes_When_Casemapped CWCM;Changes_When_Lowercased "
    "CWL;Changes_When_Titlecased CWT;Changes_When_Uppercased CWU;Dash;"
    "Default_Ignorable_Code_Point DI;Deprecated Dep;Diacritic Dia;Emoji;Emoji_Component "
    "EComp;Emoji_Modifier EMod;Emoji_Modifier_Base EBase;Emoji_Presentation EPres;"
    "Extended_Pictographic ExtPict;Extender Ext;Grapheme_Base Gr_Base;Grapheme_Extend Gr_Ext;"
    "Hex_Digit Hex;IDS_Binary_Operator IDSB;IDS_Trinary_Operator IDST;ID_Continue IDC;"
    "ID_Start IDS;Ideographic Ideo;Join_Control Join_C;Logical_Order_Exception LOE;Lowercase "
    "Lower;Math;Noncharacter_Code_Point NChar;Pattern_Syntax Pat_Syn;Pattern_White_Space "
    "Pat_WS;Quotation_Mark QMark;Radical;Regional_Indicator RI;Sentence_Terminal STerm;"
    "Soft_Dotted SD;Terminal_Punctuation Term;Unified_Ideograph UIdeo;Uppercase Upper;"
    "Variation_Selector VS;White_Space space;XID_Continue XIDC;XID_Start XIDS;";

static const char keys[] = "gc General_Category;sc Script;scx Script_Extensions;";

/* The first name of the property `name`; absent when the table does not have it. */
static struct mcpx_slice find_name(const char *table, struct mcpx_slice name)
{
    struct mcpx_slice first = {table, strcspn(table, " ;")};

    for (size_t len; *table; table += len + 1) {
        len = strcspn(table, " ;");
        if (mcpx_slice_equal(name, (struct mcpx_slice){table, len}))
            return first;
        if (table[len] == ';')
            first = (struct mcpx_slice){table + len + 1, strcspn(table + len + 1, " ;")};
    }
    return (struct mcpx_slice){NULL, 0};
}

bool mx_property_add(struct mcpx_text *out, struct mcpx_slice name, bool is_negated)
{
    const char *equals = name.len ? memchr(name.text, '=', name.len) : NULL;
    size_t before = equals ? (size_t)(equals - name.text) : 0, skipped = before + !!equals;
    struct mcpx_slice key = find_name(keys, (struct mcpx_slice){name.text, before});
    struct mcpx_slice own = {name.text + skipped, name.len - skipped}, found;
    bool is_script = key.text && *key.text == 's';

    if (mcpx_slice_equal(name, MCPX_SLICE("Assigned")))
        return mx_property_add(out, MCPX_SLICE("Cn"), !is_negated);
    found = find_name(is_script ? scripts : categories, own);
    if (!found.text && !equals)
        found = find_name(binaries, own);
    if (!found.text || (equals && !key.text))
        return false;
    mx_format(out, "\\%s{%s%s%s}", is_negated ? "P" : "p", is_script ? key : MCPX_SLICE(""),
              is_script ? ":" : "", found);
    return true;
}
