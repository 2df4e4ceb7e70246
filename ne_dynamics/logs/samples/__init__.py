"""What is wrong with samples: stamps, repeats, jumps, degrees, efforts that are no efforts."""
