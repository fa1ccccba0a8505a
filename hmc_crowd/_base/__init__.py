"""What everybody may use: extras, money, clock, ids, checks. Imports nothing of the rest of the package but the errors."""
