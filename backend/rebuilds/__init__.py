"""Rebuilds: new links for all brokers, computed beside the live overlay, shown as a plan, activated make-before-break."""
