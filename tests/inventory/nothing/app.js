const selector = "a = 1"; session.createConsumer(q, "b = 1"); subscribe({selector: "c = 'x'"});
