"""Maps the label names in Google's export, which are in the language of the account, to label ids.

The names are in ``X-Gmail-Labels``; a name that is not listed here is a label of the user.
"""

from __future__ import annotations

from typing import Final
from unicodedata import normalize

NAMES: Final = {
    "INBOX": "Inbox",
    "SENT": "Sent",
    "DRAFT": "Drafts",
    "SPAM": "Spam",
    "TRASH": "Trash",
    "STARRED": "Starred",
    "IMPORTANT": "Important",
    "UNREAD": "Unread",
    "CHAT": "Chat",
    "CATEGORY_PERSONAL": "Category Personal",
    "CATEGORY_SOCIAL": "Category Social",
    "CATEGORY_PROMOTIONS": "Category Promotions",
    "CATEGORY_UPDATES": "Category Updates",
    "CATEGORY_FORUMS": "Category Forums",
}
"""The names that our export writes, and Google's in English."""

NOTHING: Final = ""
"""For names of states that need no label: archived, opened."""

_MORE: Final = {
    "INBOX": "Posteingang|Boîte de réception|Recibidos|Bandeja de entrada|Posta in arrivo|Caixa de entrada|Postvak IN"
    "|Odebrane|Skrzynka odbiorcza|Входящие|受信トレイ|收件箱|收件匣|받은편지함|Inkorgen|Indbakke|Innboks|Saapuneet"
    "|Doručená pošta|Gelen Kutusu"
    "|Beérkező levelek|Beérkezett üzenetek|Mesaje primite|Εισερχόμενα|Вхідні|Safata d'entrada|Safata d’entrada"
    "|Pristigla pošta|Prejeto|Входящи|דואר נכנס|البريد الوارد|Kotak Masuk|Hộp thư đến|กล่องจดหมาย",
    "SENT": "Sent Mail|Sent Items|Sent Messages|Gesendet|Gesendete|Gesendete Nachrichten|Messages envoyés|Envoyés"
    "|Enviados|Posta inviata|Inviati|Inviata|E-mails enviados|Verzonden|Verzonden berichten|Wysłane|Отправленные"
    "|送信済みメール|送信済み|已发邮件|已发送邮件|寄件備份|보낸편지함|Skickat|Skickade|Sendt|Sendte"
    "|Lähetetyt|Odeslaná pošta|Gönderilmiş Postalar|Gönderilmiş"
    "|Elküldött levelek|Elküldött üzenetek|Mesaje trimise|Trimise|Απεσταλμένα|Надіслані|Odoslané|Enviats|Poslano"
    "|Изпратени|נשלח|البريد المرسل|الرسائل المرسلة|Terkirim|Thư đã gửi|Đã gửi|จดหมายที่ส่งแล้ว|ส่งแล้ว",
    "DRAFT": "Draft|Entwürfe|Entwurf|Brouillons|Brouillon|Borradores|Borrador|Bozze|Bozza|Rascunhos|Rascunho|Concepten"
    "|Concept|Wersje robocze|Wersja robocza|Черновики|下書き|草稿|임시보관함|Utkast|Kladder"
    "|Kladde|Luonnokset|Koncepty|Taslaklar"
    "|Piszkozatok|Mesaje nefinalizate|Schițe|Πρόχειρα|Чернетки|Esborranys|Skice|Osnutki|Чернови|טיוטות|المسودات|Draf"
    "|Thư nháp|ร่างจดหมาย",
    "SPAM": "Junk|Junk E-mail|Pourriel|No deseado|Correo no deseado|Posta indesiderata|Lixo eletrônico"
    "|Ongewenste e-mail|Спам|迷惑メール|垃圾邮件|垃圾郵件|스팸함|Skräppost|Søppelpost|Roskaposti"
    "|Levélszemét|Ανεπιθύμητα|Correu brossa|Neželjena pošta|ספאם|غير مرغوب فيه|الرسائل غير المرغوب فيها|Thư rác"
    "|จดหมายขยะ|สแปม",
    "TRASH": "Bin|Deleted|Deleted Items|Deleted Messages|Papierkorb|Corbeille|Papelera|Cestino|Lixeira|Lixo|Prullenbak"
    "|Prullenmand|Kosz|Корзина|ゴミ箱|已删除邮件|垃圾桶|휴지통|Papperskorgen|Papirkurv|Papperskorg|Roskakori|Koš"
    "|Çöp Kutusu"
    "|Kuka|Coș de gunoi|Coş de gunoi|Κάδος απορριμμάτων|Κάδος|Кошик|Kôš|Paperera|Smeće|Otpad|Кошче|אשפה|المهملات|Sampah"
    "|Thùng rác|ถังขยะ",
    "STARRED": "Markiert|Suivis|Messages suivis|Destacados|Speciali|Com estrela|Met ster|Oznaczone gwiazdką|Помеченные"
    "|スター付き|已加星标|已加星號|별표편지함|Stjärnmärkt|Stjernemerket|Med stjerne|Yıldızlı"
    "|Csillagozott|Cu stea|Με αστέρι|Із зірочкою|S hvězdičkou|S hviezdičkou|Destacats|Sa zvjezdicom|Със звезда"
    "|מסומן בכוכב|المميزة بنجمة|مميزة بنجمة|Berbintang|Có gắn dấu sao|ติดดาว",
    "IMPORTANT": "Wichtig|Importants|Importante|Importantes|Importanti|Belangrijk|Ważne|Важное|重要|重要邮件|重要郵件"
    "|중요편지함|Viktigt|Vigtigt|Viktig|Önemli"
    "|Fontos|Important|Σημαντικά|Важливі|Důležité|Dôležité|Važno|Важни|חשוב|مهم|Penting|Quan trọng|สำคัญ",
    "UNREAD": "Ungelesen|Non lus|Non lu|No leídos|No leído|Da leggere|Non letti|Não lidas|Não lido|Não lidos|Ongelezen"
    "|Nieprzeczytane|Непрочитанные|未読|未读|未讀|읽지않음|Oläst|Olästa|Ulæst|Ulest|Okunmamış"
    "|Olvasatlan|Necitite|Μη αναγνωσμένα|Непрочитані|Nepřečtené|Neprečítané|No llegits|Nepročitano|Непрочетени"
    "|לא נקרא|غير مقروءة|Belum dibaca|Chưa đọc|ยังไม่ได้อ่าน",
    "CATEGORY_PERSONAL": "Kategorie Persönlich|Catégorie Personnel|Categoría Personal|Categoria Personale"
    "|Categoria Pessoal|Categorie Persoonlijk",
    "CATEGORY_SOCIAL": "Kategorie Soziale Netzwerke|Catégorie Réseaux sociaux|Categoría Social|Categoria Social"
    "|Categorie Sociaal",
    "CATEGORY_PROMOTIONS": "Kategorie Werbung|Catégorie Promotions|Categoría Promociones|Categoria Promozioni"
    "|Categoria Promoções|Categorie Reclame",
    "CATEGORY_UPDATES": "Kategorie Benachrichtigungen|Catégorie Notifications|Categoría Notificaciones"
    "|Categoria Aggiornamenti|Categoria Atualizações|Categorie Updates",
    "CATEGORY_FORUMS": "Kategorie Foren|Catégorie Forums|Categoría Foros|Categoria Forum|Categoria Fóruns"
    "|Categorie Forums",
    NOTHING: "Archived|Opened|Archiviert|Geöffnet|Archivés|Archivé|Ouvert|Archivado|Abierto|Archiviati|Aperto"
    "|Arquivado|Aberto|Gearchiveerd|Geopend|Zarchiwizowane|Otwarte|Архив|Прочитанные|アーカイブ済み|開封済み|已归档|已打开"
    "|Arkiverat|Öppnat|Arkiveret|Åbnet|Arkivert|Åpnet|Archivováno|Otevřeno|Archivált|Megnyitott|Arhivate|Deschise"
    "|Αρχειοθετημένα|Ανοιγμένα|Архівовані|Відкриті|Архивированные|Открытые|已封存|已開啟|보관됨|열림|Arşivlenmiş|Açılmış"
    "|Archivados|Abiertos|Arquivados|Abertos",
}

_LABELS: Final[dict[str, str]] = {
    **{name.casefold(): label for label, names in _MORE.items() for name in names.split("|")},
    **{name.casefold(): label for label, name in NAMES.items()},
}


def label_of(name: str) -> str | None:
    """The id of the system label with that name, :data:`NOTHING` for a name that is no label, ``None`` for a user's
    label."""
    plain = normalize("NFC", name.strip()).casefold()
    if (label := _LABELS.get(plain)) is not None or ":" not in plain:
        return label
    label = _LABELS.get(" ".join(plain.replace(":", " ").split()))  # some languages have “Category: Forums”
    return label if label and label.startswith("CATEGORY") else None
