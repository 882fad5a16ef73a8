//! The filter as the chain uses it.
