"""What can be said of a selector and of a message, beyond whether it is selected."""
