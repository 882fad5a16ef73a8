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

impl IntoIterator for Ranges {
    type Item = i64;
    type IntoIter = std::vec::IntoIter<i64>;
    fn into_iter(self) -> Self::IntoIter { Vec::new().into_iter() }
}
