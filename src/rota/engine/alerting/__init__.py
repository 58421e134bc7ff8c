"""Evaluates expectations, keeps incidents and sends notifications about them."""
