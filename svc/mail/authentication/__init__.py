"""Checks whether mail comes from the sender it names: by the results of the account's own server, and by DKIM, which is
checked here. The result is stored for each message.

Owns ``mail_authentication`` and ``mail_dkim_keys``. A consumer checks new mail. Older mail is checked when it is read,
and then no key is asked for where the own server has given results. So a name server of the sender learns when mail
arrives, but not when it is read.
"""
