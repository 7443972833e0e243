"""What OOD metrics do not see: App. C."""
