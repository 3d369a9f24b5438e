"""Pictures in mail: remote ones through a proxy and only when asked for, and the senders whose pictures always show."""
