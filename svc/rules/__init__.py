"""Mail rules: what happens to a new mail. Each rule is a page ``mail-rules/<name>``, which people can write without
code.

Owns the tables ``rule_*``. A rule acts only on the accounts of its page's owner. Conditions cost no model call; where
rules ask a model, all questions about a mail are one call. Each mail passes the rules once, in order; a durable
consumer does this. Rules never send: a drafted reply waits for its person.
"""

from svc.rules.feature import FEATURE
from svc.rules.finding import Found as FoundMail
from svc.rules.finding import found as find_mail
from svc.rules.finding import owner as rules_owner
from svc.rules.following import prompt_of as mail_prompt

__all__ = ["FEATURE", "FoundMail", "find_mail", "mail_prompt", "rules_owner"]
