"""What several screens draw with: bars, passages, plots, dialogs. Without access to store or model."""
