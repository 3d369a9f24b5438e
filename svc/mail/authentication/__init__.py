"""Whether mail comes from whom it names: the own server's word, and DKIM checked here; kept beside each message.

Owns ``mail_authentication`` and ``mail_dkim_keys``. What just arrived is checked by a consumer; what lay there before
when it is read, and then nobody is asked for a key where the own server has answered: a name server that belongs to
the sender learns of the arrival, not of the reading.
"""
