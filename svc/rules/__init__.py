"""Mail rules: what happens with a mail as it comes, as pages ``mail-rules/<name>`` that people write without code.

Owns the tables ``rule_*``. A rule acts on the accounts of its page's owner alone.
Conditions cost no model call; where rules ask one, all questions about a mail are one call. Each mail passes the rules
once, in order, as a durable consumer. What is sent is never decided here: a drafted reply waits for its person.
"""

from svc.rules.feature import FEATURE
from svc.rules.finding import Found as FoundMail
from svc.rules.finding import found as find_mail
from svc.rules.finding import owner as rules_owner
from svc.rules.following import prompt_of as mail_prompt

__all__ = ["FEATURE", "FoundMail", "find_mail", "mail_prompt", "rules_owner"]
