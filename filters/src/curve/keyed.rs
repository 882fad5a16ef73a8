//! Keys in order, and the value at a time.

use super::{Animate, At, Key, Shape};
use crate::ratio::Ratio;
use core::fmt;

/// Most keys of one curve.
pub const MAX_KEYS: usize = 1 << 16;

/// Keys in order of time, all in frames or all in seconds. Before the first and after the last the value stays.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve<T = f64> {
    keys: Vec<Key<T>>,
}

/// What is wrong with a list of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CurveError {
    /// No key at all.
    Empty,
    /// Key number `.0` (from 0) is in seconds where the one before it is in frames, or the other way round.
    Mixed(usize),
    /// Key number `.0` (from 0) is not after the one before it.
    Order(usize),
    /// Key number `.0` (from 0) has a value that is not finite.
    Value(usize),
    /// Key number `.0` (from 0) is at a negative time.
    Negative(usize),
    /// More than [`MAX_KEYS`].
    TooMany,
    /// A key counts from the end, and the source's length is not known.
    NoLength,
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CurveError::Empty => f.write_str("a curve needs at least one key"),
            CurveError::Mixed(_) => f.write_str("keys must be all in frames or all in seconds"),
            CurveError::Order(i) => write!(f, "key {} must be later than the one before it", i + 1),
            CurveError::Value(i) => write!(f, "the value of key {} must be a finite number", i + 1),
            CurveError::Negative(i) => {
                write!(f, "key {}: seconds begin at 0; only frames count from the end", i + 1)
            }
            CurveError::TooMany => write!(f, "more than {MAX_KEYS} keys in one curve"),
            CurveError::NoLength => f.write_str(
                "a key that counts from the end needs a source whose length is known; write its number",
            ),
        }
    }
}

impl core::error::Error for CurveError {}

impl CurveError {
    /// The number of the key it is about (from 0), if it is about one.
    pub const fn key(self) -> Option<usize> {
        match self {
            CurveError::Mixed(i) | CurveError::Order(i) | CurveError::Value(i) | CurveError::Negative(i) => {
                Some(i)
            }
            CurveError::Empty | CurveError::TooMany | CurveError::NoLength => None,
        }
    }
}

impl<T: Animate> Curve<T> {
    /// A curve of the given keys. Those that count from the end stay as written until [`resolve`](Curve::resolve).
    pub fn new(keys: Vec<Key<T>>) -> Result<Curve<T>, CurveError> {
        let curve = Curve { keys };
        curve.check()?;
        Ok(curve)
    }

    fn check(&self) -> Result<(), CurveError> {
        if self.keys.is_empty() {
            return Err(CurveError::Empty);
        }
        if self.keys.len() > MAX_KEYS {
            return Err(CurveError::TooMany);
        }
        for (i, key) in self.keys.iter().enumerate() {
            if !key.value.is_finite() {
                return Err(CurveError::Value(i));
            }
            if matches!(key.at, At::Seconds(s) if s < Ratio::ZERO) {
                return Err(CurveError::Negative(i));
            }
        }
        for (i, pair) in self.keys.windows(2).enumerate() {
            match (pair[0].at, pair[1].at) {
                // One that counts from the end cannot be compared yet with one that counts from the start.
                (At::Frame(a), At::Frame(b)) if (a < 0) != (b < 0) => {}
                (At::Frame(a), At::Frame(b)) if a < b => {}
                (At::Seconds(a), At::Seconds(b)) if a < b => {}
                (At::Frame(_), At::Seconds(_)) | (At::Seconds(_), At::Frame(_)) => {
                    return Err(CurveError::Mixed(i + 1));
                }
                _ => return Err(CurveError::Order(i + 1)),
            }
        }
        Ok(())
    }

    /// Its keys, in order.
    pub fn keys(&self) -> &[Key<T>] {
        &self.keys
    }

    /// The value if it is the same at every time.
    pub fn constant(&self) -> Option<T> {
        let first = self.keys[0].value;
        self.keys.iter().all(|k| k.value == first).then_some(first)
    }

    /// Turns frames that count from the end into numbers, `last` being the number of the last frame.
    pub fn resolve(&self, last: Option<i64>) -> Result<Curve<T>, CurveError> {
        let mut keys = self.keys.clone();
        for key in &mut keys {
            if let At::Frame(n) = &mut key.at
                && *n < 0
            {
                *n = last.ok_or(CurveError::NoLength)?.saturating_add(*n + 1);
            }
        }
        for (i, pair) in keys.windows(2).enumerate() {
            if let (At::Frame(a), At::Frame(b)) = (pair[0].at, pair[1].at)
                && a >= b
            {
                return Err(CurveError::Order(i + 1));
            }
        }
        Ok(Curve { keys })
    }

    /// The value at a moment. Only + - * /, in one order: the same bits everywhere.
    pub fn value(&self, frame: Ratio, time: Ratio) -> T {
        let seconds = matches!(self.keys[0].at, At::Seconds(_));
        let now = if seconds { time } else { frame };
        let when = |k: &Key<T>| match k.at {
            At::Frame(n) => Ratio::whole(n),
            At::Seconds(s) => s,
        };
        let after = self.keys.partition_point(|k| when(k) <= now);
        if after == 0 {
            return self.keys[0].value;
        }
        let a = &self.keys[after - 1];
        let Some(b) = self.keys.get(after) else { return a.value };
        match a.shape {
            Shape::Hold => a.value,
            Shape::Linear => {
                let part = (now - when(a)).to_f64() / (when(b) - when(a)).to_f64();
                T::from_parts(|i| a.value.part(i) + (b.value.part(i) - a.value.part(i)) * part)
            }
        }
    }
}
