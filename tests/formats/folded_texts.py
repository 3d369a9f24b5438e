"""Plain texts as programs write them: what is their writer's own and stays in sight, and what folds below it."""

from __future__ import annotations

from typing import Final

QUOTED: Final = "> Shall we meet?\n> Noa\n"

FOLDED: Final[dict[str, tuple[str, str]]] = {
    "gmail, en": (
        "Yes, at noon.",
        f"On Tue, Oct 27, 2026 at 9:00 AM Noa Brandt <noa@example.org> wrote:\n\n{QUOTED}",
    ),
    "gmail, over two lines": (
        "Yes.\n\nMia",
        f"On Tue, Oct 27, 2026 at 9:00 AM Noa Brandt With A Long Name\n<noa@example.org> wrote:\n{QUOTED}",
    ),
    "gmail, de": ("Ja.", f"Am Di., 27. Okt. 2026 um 09:00 Uhr schrieb Noa Brandt <\nnoa@example.org>:\n\n{QUOTED}"),
    "gmail, fr": ("Oui.", f"Le mar. 27 oct. 2026 à 09:00, Noa Brandt <noa@example.org> a\nécrit :\n\n{QUOTED}"),
    "gmail, es": ("Sí.", f"El mar, 27 oct 2026 a las 9:00, Noa Brandt (<noa@example.org>)\nescribió:\n\n{QUOTED}"),
    "gmail, it": ("Sì.", f"Il giorno mar 27 ott 2026 alle ore 09:00 Noa <noa@example.org>\nha scritto:\n\n{QUOTED}"),
    "gmail, nl": ("Ja.", f"Op di 27 okt 2026 om 09:00 schreef Noa Brandt <noa@example.org>:\n\n{QUOTED}"),
    "gmail, pt": ("Sim.", f"Em ter., 27 de out. de 2026 às 09:00, Noa <noa@example.org>\nescreveu:\n\n{QUOTED}"),
    "gmail, sv": ("Ja.", f"Den tis 27 okt. 2026 kl 09:00 skrev Noa Brandt <noa@example.org>:\n\n{QUOTED}"),
    "gmail, no": ("Ja.", f"tir. 27. okt. 2026 kl. 09:00 skrev Noa Brandt <noa@example.org>:\n\n{QUOTED}"),
    "gmail, pl": ("Tak.", f"wt., 27 paź 2026 o 09:00 Noa Brandt <noa@example.org> napisał(a):\n\n{QUOTED}"),
    "gmail, ru": ("Да.", f"вт, 27 окт. 2026 г. в 09:00, Noa Brandt <noa@example.org>:\n\n{QUOTED}"),
    "gmail, ja": ("はい。", f"2026年10月27日(火) 9:00 Noa Brandt <noa@example.org>:\n\n{QUOTED}"),
    "gmail, zh": ("好。", f"Noa Brandt <noa@example.org> 于2026年10月27日周二 09:00写道：\n\n{QUOTED}"),
    "gmail, ko": ("네.", f"2026년 10월 27일 (화) 오전 9:00, Noa <noa@example.org>님이 작성:\n\n{QUOTED}"),
    "thunderbird, en": ("Yes.", f"On 27/10/2026 09:00, Noa Brandt wrote:\n{QUOTED}"),
    "thunderbird, de": ("Ja.", f"Am 27.10.26 um 09:00 schrieb Noa Brandt:\n{QUOTED}"),
    "apple mail, ja": ("はい。", f"2026/10/27 9:00、Noa Brandt <noa@example.org>のメール：\n\n{QUOTED}"),
    "apple mail": ("Yes.", f"Mia\n\n> On 27 Oct 2026, at 09:00, Noa <noa@example.org> wrote:\n> \n{QUOTED}"[5:]),
    "yahoo, that marks nothing": (
        "Yes.",
        " On Tuesday, October 27, 2026 at 09:00:00 AM GMT+1, Noa <noa@example.org> wrote:  \n \n Shall we meet?\n",
    ),
    "outlook, en": (
        "Yes.",
        "________________________________\nFrom: Noa Brandt <noa@example.org>\nSent: Tuesday, October 27, 2026 9:00\n"
        "To: Mia Adler <mia@example.org>; Ivo Kern\n <ivo@example.org>\nSubject: Plans\n\nShall we meet?\n",
    ),
    "outlook, de": (
        "Ja.",
        "Von: Noa Brandt\nGesendet: Dienstag, 27. Oktober 2026\nAn: Mia\nBetreff: Plans\n\nTreffen wir uns?\n",
    ),
    "outlook, fr": (
        "Oui.",
        "De : Noa Brandt\nEnvoyé : mardi 27 octobre 2026 09:00\nÀ : Mia\nObjet : Plans\n\nOn se voit ?\n",
    ),
    "outlook express": ("Yes.", "-----Original Message-----\nFrom: Noa\n\nShall we meet?\n"),
    "outlook, de, old": ("Ja.", "-----Ursprüngliche Nachricht-----\nVon: Noa\n\nTreffen wir uns?\n"),
    "a signature": ("Yes.", "-- \nMia Adler\nHead of cranes\n"),
    "a signature, then a quotation": (
        "Yes.",
        f"-- \nMia Adler\n\nOn Tue, Oct 27, 2026 at 9:00 AM Noa <noa@example.org> wrote:\n{QUOTED}",
    ),
    "a quotation, then the list's footer": (
        "Yes.",
        f"On 27/10/2026 09:00, Noa wrote:\n{QUOTED}\n_______________________________________________\n"
        "cranes mailing list\ncranes@lists.example.org\nhttps://lists.example.org/cranes\n",
    ),
    "answers between quotations": (f"{QUOTED}Yes.\n\n> Where?\n\nHere.", "> When?\n> Noa\n"),
    "an answer below a quotation, signed": (f"On 27/10/2026 09:00, Noa wrote:\n{QUOTED}\nYes.", "-- \nMia\n"),
}

WHOLE: Final[dict[str, str]] = {
    "own words": "Yes.\n\nLet us meet at noon.\n",
    "an answer below a quotation": f"On 27/10/2026 09:00, Noa wrote:\n{QUOTED}\nYes.\n",
    "only a quotation": QUOTED,
    "only what announces and a quotation": f"On 27/10/2026 09:00, Noa wrote:\n{QUOTED}",
    "only a signature": "-- \nMia\n",
    "only rulers above": f"-----\n\n{QUOTED}",
    "what somebody wrote": "On Monday we met, and Noa wrote:\nI agree.\n",
    "he wrote": "He wrote:\n\nnothing at all.\n",
    "gmail's forward": (
        "See below.\n\n---------- Forwarded message ---------\nFrom: Noa <noa@example.org>\nDate: Tue, 27 Oct 2026\n"
        "Subject: Plans\nTo: Mia\n\nShall we meet?\n"
    ),
    "apple's forward": f"See.\n\nBegin forwarded message:\n\n> From: Noa\n> Subject: Plans\n> \n{QUOTED}",
    "thunderbird's forward, de": "Siehe.\n\n-------- Weitergeleitete Nachricht --------\nBetreff: x\nVon: Noa\n",
    "a patch": (
        "Fix the crane.\n\n---\n crane.c | 2 +-\n\ndiff --git a/crane.c b/crane.c\n--- a/crane.c\n+++ b/crane.c\n"
        "@@ -1,2 +1,2 @@\n- up();\n+ down();\n-- \n2.43.0\n"
    ),
    "the cover of patches": "This mends the crane.\n\nMia Adler (2):\n  crane: down\n\n-- \n2.43.0.windows.1\n",
    "a journey": "From: Berlin\nTo: Paris\nDate: Tuesday\n\nIs there a train?\n",
    "a long text below two dashes": "Act one.\n--\n" + "A line of the second act.\n" * 60,
    "a ruler, then more of one's own": "One.\n________________________________________\nTwo.\n",
}
