"""The queue of label changes that were made in svc and wait to be sent to the provider. Owns ``mail_mirror``."""
