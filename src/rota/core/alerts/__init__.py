"""Pure rules of alerting: expectations, what they find, incidents and the messages about them."""
