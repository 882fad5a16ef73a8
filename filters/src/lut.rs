//! Look-up tables of colours in the text format `.cube`, as Adobe defines it and DaVinci Resolve extends it.
//!
//! ```text
//! # a comment
//! TITLE "a name"
//! LUT_1D_SIZE n              2 to 65536 lines of values, applied first
//! LUT_1D_INPUT_RANGE min max
//! LUT_3D_SIZE n              2 to 129, for n x n x n lines of values, red changing fastest
//! LUT_3D_INPUT_RANGE min max
//! DOMAIN_MIN r g b           the input range of the only table, or of the first of two
//! DOMAIN_MAX r g b
//! r g b
//! ...
//! ```
//!
//! At least one of the two sizes is given. Keywords come before the values; blank lines, comments and lines that end in
//! CR LF may be anywhere.

use crate::pixel::lut::{Cube, Curves, Domain, clip};
use crate::simd::Level;
use core::str::FromStr;

/// The largest size of a file, in bytes.
pub const MAX_TEXT: usize = 160 << 20;

/// The largest numbers of entries, of a table for each channel and per side of a cube.
const MAX_SIZES: [usize; 2] = [65536, 129];

/// The keywords of the sizes.
const SIZES: [&str; 2] = ["LUT_1D_SIZE", "LUT_3D_SIZE"];

/// The largest value, as in half floats.
const MAX_VALUE: f32 = 65504.0;

/// A look-up table: a table for each channel, a table for all three, or the first followed by the second.
#[derive(Clone, PartialEq, Debug)]
pub struct Lut {
    curves: Option<Curves>,
    cube: Option<Cube>,
}

/// An error in the text of a look-up table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LutError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// The kinds of errors in a .cube file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The file is too long.
    #[error("a .cube file has at most {} MiB", MAX_TEXT >> 20)]
    TooLong,
    /// An unknown keyword.
    #[error(
        "'{0}' is not a keyword of .cube files; TITLE, LUT_1D_SIZE, LUT_3D_SIZE, LUT_1D_INPUT_RANGE, \
         LUT_3D_INPUT_RANGE, DOMAIN_MIN and DOMAIN_MAX are"
    )]
    Keyword(String),
    /// A keyword is given again.
    #[error("{0} is given twice")]
    Twice(String),
    /// A keyword after the first values.
    #[error("{0} must come before the values")]
    Late(String),
    /// Values before a size.
    #[error("LUT_1D_SIZE or LUT_3D_SIZE must come before the values")]
    NoSize,
    /// A size that is not possible.
    #[error("{keyword} is a whole number from 2 to {most}, not '{found}'")]
    Size {
        /// The keyword.
        keyword: &'static str,
        /// The largest size.
        most: usize,
        /// The text after the keyword.
        found: String,
    },
    /// Other than the expected numbers.
    #[error("{count} numbers from -65504 to 65504 are expected, not '{found}'")]
    Numbers {
        /// How many are expected.
        count: usize,
        /// The text of the line.
        found: String,
    },
    /// An input range that is empty or reversed.
    #[error("the input range from {min} to {max} is empty: the maximum must be above the minimum")]
    Domain {
        /// The minimum.
        min: String,
        /// The maximum.
        max: String,
    },
    /// Fewer values than the sizes say.
    #[error("the file ends after {found} of {expected} lines of values")]
    Ends {
        /// The lines of values.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// More values than the sizes say.
    #[error("more lines of values than the {0} that the sizes say")]
    More(usize),
}

impl Lut {
    /// Replaces rows of R, G and B, nominal values; with `clips`, results are limited to 0..1.
    pub fn apply(&self, level: Level, clips: bool, [r, g, b]: [&mut [f32]; 3]) {
        if let Some(curves) = &self.curves {
            curves.apply(level, [r, g, b]);
        }
        if let Some(cube) = &self.cube {
            cube.apply(level, [r, g, b]);
        }
        if clips {
            [r, g, b].into_iter().for_each(|row| clip(level, row));
        }
    }
}

/// The values of the lines that have been read.
#[derive(Default)]
struct Reader {
    title: Option<()>,
    sizes: [Option<usize>; 2],
    ranges: [Option<[f32; 2]>; 2],
    domain: [Option<[f32; 3]>; 2],
    values: Vec<[f32; 4]>,
}

impl Reader {
    /// The number of lines of values of each table.
    fn counts(&self) -> [usize; 2] {
        [self.sizes[0].unwrap_or(0), self.sizes[1].map_or(0, |n| n * n * n)]
    }

    fn line(&mut self, line: &str) -> Result<(), Problem> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let [one, three] = self.counts();
            if one + three == 0 {
                return Err(Problem::NoSize);
            }
            if self.values.len() == one + three {
                return Err(Problem::More(one + three));
            }
            let [r, g, b] = numbers(line)?;
            self.values.push([r, g, b, 0.0]);
            return Ok(());
        }
        if !self.values.is_empty() {
            return match word.parse::<f32>() {
                // inf, nan
                Ok(_) => Err(Problem::Numbers { count: 3, found: excerpt(line) }),
                Err(_) => Err(Problem::Late(excerpt(word))),
            };
        }
        let of = |a: &str, b: &str| [a, b].iter().position(|k| *k == word);
        if word == "TITLE" {
            return once(&mut self.title, word, ());
        }
        if let Some(i) = of(SIZES[0], SIZES[1]) {
            let (keyword, most) = (SIZES[i], MAX_SIZES[i]);
            let size = rest.parse().ok().filter(|n| (2..=most).contains(n));
            let size = size.ok_or_else(|| Problem::Size { keyword, most, found: excerpt(rest) })?;
            return once(&mut self.sizes[i], word, size);
        }
        if let Some(i) = of("LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE") {
            return once(&mut self.ranges[i], word, numbers(rest)?);
        }
        if let Some(i) = of("DOMAIN_MIN", "DOMAIN_MAX") {
            return once(&mut self.domain[i], word, numbers(rest)?);
        }
        Err(Problem::Keyword(excerpt(word)))
    }

    /// The input range of table `i`.
    fn domain(&self, i: usize) -> Result<Domain, Problem> {
        let default = Domain::default();
        let first = i == 0 || self.sizes[0].is_none();
        let given = |k: usize, or| self.domain[k].filter(|_| first).unwrap_or(or);
        let domain = match self.ranges[i] {
            Some([min, max]) => Domain { min: [min; 3], max: [max; 3] },
            None => Domain { min: given(0, default.min), max: given(1, default.max) },
        };
        match (0..3).find(|&c| domain.max[c] - domain.min[c] < 1e-6) {
            Some(c) => {
                Err(Problem::Domain { min: domain.min[c].to_string(), max: domain.max[c].to_string() })
            }
            None => Ok(domain),
        }
    }

    fn finish(mut self) -> Result<Lut, Problem> {
        let [one, three] = self.counts();
        if one + three == 0 {
            return Err(Problem::NoSize);
        }
        if self.values.len() < one + three {
            return Err(Problem::Ends { found: self.values.len(), expected: one + three });
        }
        let domains = [self.domain(0)?, self.domain(1)?];
        let of_cube = self.values.split_off(one);
        Ok(Lut {
            curves: self.sizes[0].map(|_| Curves::new(&domains[0], &self.values)),
            cube: self.sizes[1].map(|size| Cube::new(&domains[1], size, of_cube)),
        })
    }
}

fn once<T>(place: &mut Option<T>, word: &str, value: T) -> Result<(), Problem> {
    match place.replace(value) {
        Some(_) => Err(Problem::Twice(word.into())),
        None => Ok(()),
    }
}

fn numbers<const N: usize>(text: &str) -> Result<[f32; N], Problem> {
    let number = |word: &str| word.parse().ok().filter(|v: &f32| v.abs() <= MAX_VALUE);
    let mut words = text.split_whitespace();
    let found = [(); N].map(|()| words.next().and_then(number));
    match words.next() {
        None if found.iter().all(Option::is_some) => Ok(found.map(Option::unwrap_or_default)),
        _ => Err(Problem::Numbers { count: N, found: excerpt(text) }),
    }
}

/// The start of a text, for a message.
fn excerpt(text: &str) -> String {
    text.chars().take(40).filter(|c| !c.is_control()).collect()
}

impl FromStr for Lut {
    type Err = LutError;

    fn from_str(text: &str) -> Result<Lut, LutError> {
        if text.len() > MAX_TEXT {
            return Err(LutError { line: 1, problem: Problem::TooLong });
        }
        let mut reader = Reader::default();
        let mut last = 1;
        for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            last = line;
            let text = text.trim();
            if !text.is_empty() && !text.starts_with('#') {
                reader.line(text).map_err(|problem| LutError { line, problem })?;
            }
        }
        reader.finish().map_err(|problem| LutError { line: last, problem })
    }
}
