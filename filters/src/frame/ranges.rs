//! Frame numbers as people write them: `1001-1100`, `1-10x2`, `5,7,9-12`, `-5--1`.

/// Frame numbers, in the order they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    first: i64,
    last: i64,
    step: u64,
}

impl Ranges {
    /// Whether frame `n` is one of them.
    pub fn contains(&self, n: i64) -> bool {
        self.parts.iter().any(|p| (p.first..=p.last).contains(&n) && n.abs_diff(p.first) % p.step == 0)
    }
}

// Stand-in until the real reading and writing of ranges is merged.

/// The text is no list of frame ranges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RangesError(pub String);

impl core::fmt::Display for RangesError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "'{}' is no frame range: write 17, 1001-1100, 1-10x2 or 5,7,9-12", self.0)
    }
}

impl core::error::Error for RangesError {}

impl core::str::FromStr for Ranges {
    type Err = RangesError;
    fn from_str(s: &str) -> Result<Ranges, RangesError> {
        let err = || RangesError(s.into());
        let cut = s.char_indices().skip(1).find(|c| c.1 == '-').map(|c| c.0);
        let (first, last) = cut.map_or((s, s), |i| (&s[..i], &s[i + 1..]));
        let (first, last) = (first.parse().map_err(|_| err())?, last.parse().map_err(|_| err())?);
        Ok(Ranges { parts: vec![Part { first, last, step: 1 }] })
    }
}

impl core::fmt::Display for Ranges {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (i, p) in self.parts.iter().enumerate() {
            write!(f, "{}{}-{}", if i == 0 { "" } else { "," }, p.first, p.last)?;
        }
        Ok(())
    }
}
