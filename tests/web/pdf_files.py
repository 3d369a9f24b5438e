"""PDFs for tests, written by hand: what each holds is what its test is about."""

from __future__ import annotations

from collections.abc import Sequence

ESCAPES = (
    b"<< /S /JavaScript /JS (this.getURL\\('https://evil.example/'\\); app.alert\\('ran'\\); document.title = 'ran') >>"
)


def pdf(*objects: bytes, more: bytes = b"") -> bytes:
    """``objects`` from number 1 on, of which the first is the catalog; ``more`` stands in the trailer."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\n" % (len(objects) + 1, more)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def stream(data: bytes, about: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), about, data)


def pages(
    *contents: bytes,
    size: Sequence[float] = (595, 842),
    resources: bytes = b"",
    catalog: bytes = b"",
    page: bytes = b"",
    objects: Sequence[bytes] = (),
) -> bytes:
    """A page for each of ``contents``. ``objects`` have the numbers from 10 on; ``/F`` is Helvetica, not embedded."""
    last = 10 + len(objects)
    box = b" ".join(b"%g" % side for side in (0, 0, *size))
    kids = b" ".join(b"%d 0 R" % (last + 2 * at) for at in range(len(contents)))
    fonts = b"/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    head = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Kids [%s] /Count %d /MediaBox [%s] /Resources << %s %s >> >>"
        % (kids, len(contents), box, fonts, resources),
        *[b"null"] * 7,
    ]
    tail = []
    for at, content in enumerate(contents):
        tail.append(b"<< /Type /Page /Parent 2 0 R /Contents %d 0 R %s >>" % (last + 2 * at + 1, page))
        tail.append(stream(content))
    return pdf(*head, *objects, *tail)


def words(text: str) -> bytes:
    """The content of a page that says this, in large letters."""
    return b"0.1 0.3 0.7 rg 50 700 60 60 re f 0 g BT /F 36 Tf 50 600 Td (%s) Tj ET" % text.encode()


def with_scripts() -> bytes:
    """Scripts as it opens, as a page is seen, and in a form; a link that would be followed; an attachment."""
    widget = (
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (filled in) /DA (/F 20 Tf 0 g) /Rect [50 400 400 440]"
        b" /AA << /PO %s /F %s >> /P 11 0 R >>" % (ESCAPES, ESCAPES)
    )
    return pages(
        words("Scripts"),
        catalog=b"/OpenAction %s /AA << /WC %s >> /AcroForm << /Fields [10 0 R] /NeedAppearances true /XFA 10 0 R"
        b" /DR << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>" % (ESCAPES, ESCAPES),
        page=b"/Annots [10 0 R << /Type /Annot /Subtype /Link /Rect [0 0 595 842]"
        b" /A << /S /URI /URI (https://evil.example/) >> >>] /AA << /O %s >>" % ESCAPES,
        objects=[widget],
    )


def scanned() -> bytes:
    """A black picture as fax machines pack it (CCITT, group 4), which a decoder of its own reads."""
    white = stream(
        bytes([0xFF, 0x00, 0x10, 0x01]),  # eight lines as the one above, and the end
        b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /BitsPerComponent 1 /ColorSpace /DeviceGray"
        b" /Decode [1 0] /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 8 /Rows 8 >>",
    )
    return pages(b"q 595 0 0 842 0 0 cm /I Do Q", resources=b"/XObject << /I 10 0 R >>", objects=[white])


def locked() -> bytes:
    """Its password is not the empty one."""
    return pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [] /Count 0 >>",
        b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32),
        more=b"/Encrypt 3 0 R /ID [<00> <00>]",
    )


def endless() -> bytes:
    """Forms in forms, ten in each, twelve deep: a million million squares, in two kilobytes."""
    depth = 12
    forms = [
        stream(
            b"/G Do " * 10 if at < depth - 1 else b"0 0 9 9 re f",
            b"/Type /XObject /Subtype /Form /BBox [0 0 600 900] /Resources << /XObject << /G %d 0 R >> >>" % (11 + at),
        )
        for at in range(depth)
    ]
    return pages(b"/G Do", resources=b"/XObject << /G 10 0 R >>", objects=forms)
