"""Turns bytes into text, whatever the label says: the charset names of real mail, and the codecs allowed for them.

Owns an allow-list: only this module looks up labels, so no label can name a codec that is no charset (``zlib``,
``idna``, ``unicode_escape``). Replaces a charset by a wider one where the WHATWG Encoding Standard does, as browsers
do. Never raises; the text may hold lone surrogates (UTF-7), which are removed by the cleaning after it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.formats.mime.model import Problems

MAX_LABEL_CHARS: Final = 64
META_WINDOW_BYTES: Final = 4_096
"""The part of an HTML body that is searched for ``<meta charset>``."""

_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_META: Final = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_MULTIBYTE_CHARACTER: Final = re.compile("[\x80-\ufffc\ufffe-\U0010ffff]")
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, because their marks begin alike
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_ROWS: Final = """
?: ascii usascii ansix341968 ansix341986 iso646us iso646irv1991 us 646 cp367 ibm367 unknown unknown8bit 8bit 7bit
?: binary default defaultcharset none null userdefined text plain notset
utf-8: utf8 utf8mb4 utf8sig unicode11utf8 unicode20utf8 65001 cp65001 unicode
utf-7: utf7 unicode11utf7 unicode20utf7 65000 cp65000
utf-16-be: utf16be unicodefffe
utf-16-le: utf16 utf16le ucs2 iso10646ucs2 csunicode
utf-32-be: utf32be
utf-32-le: utf32 utf32le ucs4 iso10646ucs4
cp1250: windows1250 win1250 1250 cp1250
cp1251: windows1251 win1251 1251 cp1251 microsoftcp1251 ansi1251 winansi1251
cp1252: windows1252 win1252 1252 cp1252 iso88591 iso885911987 88591 latin1 latin l1 isolatin1 csisolatin1 isoir100
cp1252: cp819 ibm819 819 ansi
cp1253: windows1253 win1253 1253 cp1253
cp1254: windows1254 win1254 1254 cp1254 iso88599 iso885991989 latin5 l5 csisolatin5
cp1255: windows1255 win1255 1255 cp1255
cp1256: windows1256 win1256 1256 cp1256
cp1257: windows1257 win1257 1257 cp1257
cp1258: windows1258 win1258 1258 cp1258
cp874: windows874 cp874 874 tis620 tis6200 iso885911 dos874
iso8859-2: iso88592 iso885921987 88592 latin2 l2 csisolatin2
iso8859-3: iso88593 iso885931988 latin3 l3
iso8859-4: iso88594 iso885941988 latin4 l4
iso8859-5: iso88595 iso885951988 cyrillic
iso8859-6: iso88596 iso885961987 iso88596e iso88596i arabic
iso8859-7: iso88597 iso885971987 greek greek8 ecma118 elot928
iso8859-8: iso88598 iso885981988 iso88598i iso88598e hebrew logical visual
iso8859-10: iso885910 latin6 l6
iso8859-13: iso885913 latin7
iso8859-14: iso885914 latin8
iso8859-15: iso885915 885915 latin9 latin0 l9
iso8859-16: iso885916 latin10
koi8-r: koi8r koi8 koi cskoi8r
koi8-u: koi8u koi8ru
mac_roman: macintosh macroman mac applemacintosh csmacintosh
mac_cyrillic: maccyrillic macukrainian
cp437: cp437 ibm437 437 dos437
cp737: cp737
cp775: cp775 ibm775
cp850: cp850 ibm850 850
cp852: cp852 ibm852 852
cp855: cp855 ibm855 855
cp857: cp857 ibm857
cp858: cp858 ibm858 ibm00858
cp860: cp860 ibm860
cp861: cp861 ibm861
cp862: cp862 ibm862 862
cp863: cp863 ibm863
cp864: cp864 ibm864
cp865: cp865 ibm865
cp866: cp866 ibm866 866 csibm866
gb18030: gb18030 gb2312 gbk cngb csgb2312 cp936 936 ms936 windows936 euccn gb231280 gb23121980 csiso58gb231280
gb18030: chinese eucgb2312cn gb2312charset
hz: hzgb2312 hz hzgb
big5hkscs: big5 big5hkscs cnbig5 csbig5 cp950 950 big5eten big5tw chinesebig5
euc_jis_2004: eucjp ujis cseucpkdfmtjapanese euc eucjis2004
cp932: shiftjis sjis csshiftjis mskanji ms932 cp932 932 windows31j windows932 cswindows31j
iso2022_jp_ext iso2022_jp_2004: iso2022jp csiso2022jp iso2022jp1 iso2022jp2 iso2022jpms cp50220 cp50221 50220 50221 jis
iso2022_jp_2004: iso2022jp3 iso2022jp2004
cp949: euckr ksc56011987 ksc56011989 ksc5601 ksc56011992 ksx1001 uhc cp949 949 windows949 ms949 cseuckr korean isoir149
iso2022_kr: iso2022kr csiso2022kr
johab: johab cp1361
kz1048: kz1048 strk10482002 rk1048
ptcp154: ptcp154 pt154 cyrillicasian
hp_roman8: hproman8 roman8
"""
"""One row: the Python codecs to try in turn, then the labels they serve, lower case and without punctuation. A question
mark stands for labels without information, or ASCII, which senders write when they do not know."""


def _table() -> Mapping[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {"": ()}
    for row in _ROWS.strip().splitlines():
        names, _, labels = row.partition(": ")
        for label in labels.split():
            table[label] = () if names == "?" else tuple(names.split())
    return MappingProxyType(table)


_CODECS: Final = _table()


def codecs_for(label: str) -> tuple[str, ...] | None:
    """The Python codecs to try for a charset label, in order; ``()`` means guess; ``None`` if the label is unknown."""
    compact = _NOT_ALPHANUMERIC.sub("", label[:MAX_LABEL_CHARS].partition("*")[0].lower())
    for name in (compact, compact.removeprefix("charset"), compact.removeprefix("x"), compact.removeprefix("cs")):
        if name in _CODECS:
            return _CODECS[name]
    return None


def decode(data: bytes, label: str, *, problems: Problems, html: bool = False, hint: str = "") -> str:
    """``data`` as text. ``label`` is the part's own; ``hint`` is tried if there is no label and UTF-8 fails."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if data.startswith(mark) and (len(mark) > 2 or len(data) % 2 == 0):
            return data[len(mark) :].decode(codec, "replace")
    names = codecs_for(label)
    if names is None:
        problems.add(f"unknown charset {label[:MAX_LABEL_CHARS]}")
    if not names or (names[0].startswith(("utf-16", "utf-32")) and b"\0" not in data):
        return _guess(data, html=html, hint=hint)
    return _strictly_then_loosely(data, names)


def _guess(data: bytes, *, html: bool, hint: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if html and (meta := _META.search(data[:META_WINDOW_BYTES])):
        hint = meta[1].decode("ascii", "replace")
    # A meta element that could be read means an ASCII-compatible charset, whatever it says.
    names = [name for name in codecs_for(hint) or () if not name.startswith("utf-")]
    return _strictly_then_loosely(data, tuple(names) or ("cp1252",))


def _strictly_then_loosely(data: bytes, names: tuple[str, ...]) -> str:
    for name in names:
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    text = data.decode(names[0], "replace")
    if names[0] == "utf-8" and not _MULTIBYTE_CHARACTER.search(text):
        return data.decode("cp1252", "replace")  # it has no valid UTF-8 character beyond ASCII
    return text
