"""What a selector means, exactly: formulas over sets of values, and the message that makes one true."""
