"""What leaves: submission by SMTP (RFC 6409), with the one question that matters answered exactly: may it have left?"""
