"""What everybody may use: extras, money, clock, ids, checks. Imports nothing of the house but the errors."""
