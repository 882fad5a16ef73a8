//! Keys, shapes, and the value at a time.

use crate::ratio::Ratio;
use core::fmt;

/// When a key is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum At {
    /// A frame number; negative counts from the end, -1 is the last frame.
    Frame(i64),
    /// Seconds since the source's first frame.
    Seconds(Ratio),
}

/// How the value goes from a key to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Shape {
    /// Stays until the next key.
    Hold,
    /// A straight line.
    #[default]
    Linear,
}

/// One point of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key {
    /// When.
    pub at: At,
    /// What.
    pub value: f64,
    /// How it goes on to the next key.
    pub shape: Shape,
}

/// Keys in order of time, all in frames or all in seconds. Before the first and after the last the value stays.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    keys: Vec<Key>,
}

/// What is wrong with a list of keys.
#[derive(Clone, PartialEq, Debug)]
pub enum CurveError {
    /// No key at all.
    Empty,
    /// Frames and seconds mixed.
    Mixed,
    /// Key number `.0` (from 0) is not after the one before it.
    Order(usize),
    /// Key number `.0` (from 0) has a value that is not finite.
    Value(usize),
    /// A key counts from the end, and the source's length is not known.
    NoLength,
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CurveError::Empty => f.write_str("a curve needs at least one key"),
            CurveError::Mixed => f.write_str("keys must be all in frames or all in seconds"),
            CurveError::Order(i) => write!(f, "key {} must be later than the one before it", i + 1),
            CurveError::Value(i) => write!(f, "the value of key {} must be a finite number", i + 1),
            CurveError::NoLength => f.write_str(
                "a key that counts from the end needs a source whose length is known; write its number",
            ),
        }
    }
}

impl core::error::Error for CurveError {}

impl Curve {
    /// A curve of the given keys. Those that count from the end stay as written until [`resolve`](Curve::resolve).
    pub fn new(keys: Vec<Key>) -> Result<Curve, CurveError> {
        let curve = Curve { keys };
        curve.check()?;
        Ok(curve)
    }

    fn check(&self) -> Result<(), CurveError> {
        if self.keys.is_empty() {
            return Err(CurveError::Empty);
        }
        if let Some(i) = self.keys.iter().position(|k| !k.value.is_finite()) {
            return Err(CurveError::Value(i));
        }
        for (i, pair) in self.keys.windows(2).enumerate() {
            match (pair[0].at, pair[1].at) {
                // One that counts from the end cannot be compared yet with one that counts from the start.
                (At::Frame(a), At::Frame(b)) if (a < 0) != (b < 0) => {}
                (At::Frame(a), At::Frame(b)) if a < b => {}
                (At::Seconds(a), At::Seconds(b)) if a < b => {}
                (At::Frame(_), At::Seconds(_)) | (At::Seconds(_), At::Frame(_)) => {
                    return Err(CurveError::Mixed);
                }
                _ => return Err(CurveError::Order(i + 1)),
            }
        }
        Ok(())
    }

    /// Its keys, in order.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Turns frames that count from the end into numbers, `last` being the number of the last frame.
    pub fn resolve(&self, last: Option<i64>) -> Result<Curve, CurveError> {
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
    pub fn value(&self, frame: Ratio, time: Ratio) -> f64 {
        let seconds = matches!(self.keys[0].at, At::Seconds(_));
        let now = if seconds { time } else { frame };
        let when = |k: &Key| match k.at {
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
                a.value + (b.value - a.value) * part
            }
        }
    }
}
