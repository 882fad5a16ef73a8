//! Functions of 0..1 as points, connected by straight lines.

use crate::curve::{Animate, trim};
use core::fmt;
use core::ops::Range;

/// The largest number of points of a function.
pub const MAX_POINTS: usize = 256;

/// At least one point (x, y), x from 0 to 1 and increasing. Before the first point and after the last the
/// function is constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Points(Vec<[f64; 2]>);

/// An error in the text of points, and its position.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct PointsError {
    /// The byte range of the error.
    pub at: Range<usize>,
    /// What is wrong.
    pub problem: PointsProblem,
}

/// See [`PointsError`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PointsProblem {
    /// Not `x=y`, or not numbers.
    #[error("points are written x=y;x=y, such as 0=0;0.5=1;1=0.2")]
    Form,
    /// An x outside 0 to 1.
    #[error("x of a point is from 0 (black) to 1 (white), not {0}")]
    X(f64),
    /// A y outside its range, lowest and highest.
    #[error("y of a point is from {1} to {2}, not {0}")]
    Y(f64, f64, f64),
    /// An x that is not above the x before it.
    #[error("points must have ascending x: {1} cannot follow {0}")]
    Order(f64, f64),
    /// More than [`MAX_POINTS`].
    #[error("more than {MAX_POINTS} points")]
    Many,
}

impl Points {
    /// Makes a function of points in order. An error is the one for their text, with a point's number instead of
    /// a byte range.
    ///
    /// # Errors
    /// There are too few or too many points, they are not in order, or one is out of range.
    pub fn new(points: &[[f64; 2]], min: f64, max: f64) -> Result<Points, PointsError> {
        let fail = |i: usize, problem| Err(PointsError { at: i..i + 1, problem });
        if points.is_empty() {
            return fail(0, PointsProblem::Form);
        }
        if points.len() > MAX_POINTS {
            return fail(MAX_POINTS, PointsProblem::Many);
        }
        for (i, &[x, y]) in points.iter().enumerate() {
            if !(0.0..=1.0).contains(&x) {
                return fail(i, PointsProblem::X(x));
            }
            if !(min..=max).contains(&y) {
                return fail(i, PointsProblem::Y(y, min, max));
            }
            if i > 0 && points[i - 1][0] >= x {
                return fail(i, PointsProblem::Order(points[i - 1][0], x));
            }
        }
        Ok(Points(points.to_vec()))
    }

    /// Parses `x=y;x=y;...`.
    ///
    /// # Errors
    /// The text is not a list of points, or they are wrong as for a list.
    pub fn parse(text: &str, min: f64, max: f64) -> Result<Points, PointsError> {
        let mut points = Vec::new();
        let mut spans = Vec::new();
        let mut start = 0;
        for part in text.split(';') {
            let span = trim(part, 0);
            let (at, part) = (start + span.start..start + span.end, &part[span]);
            start += text[start..].find(';').map_or(0, |n| n + 1);
            let number = |t: &str| f64::parse(t.trim_ascii()).ok();
            let point = part.split_once('=').and_then(|(x, y)| Some([number(x)?, number(y)?]));
            let Some(point) = point else { return Err(PointsError { at, problem: PointsProblem::Form }) };
            points.push(point);
            spans.push(at);
        }
        Points::new(&points, min, max).map_err(|e| PointsError { at: spans[e.at.start].clone(), ..e })
    }

    /// The points, x and y, by x.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.0
    }

    /// The function at x.
    pub fn at(&self, x: f64) -> f64 {
        let p = &self.0;
        let behind = p.iter().position(|p| p[0] > x).unwrap_or(p.len());
        match behind {
            0 => p[0][1],
            n if n == p.len() => p[n - 1][1],
            n => {
                let ([x0, y0], [x1, y1]) = (p[n - 1], p[n]);
                y0 + (y1 - y0) * ((x - x0) / (x1 - x0))
            }
        }
    }

    /// The first y outside a range, and the number of its point.
    pub(super) fn outside(&self, min: f64, max: f64) -> Option<(usize, f64)> {
        self.0.iter().map(|p| p[1]).enumerate().find(|(_, y)| !(min..=max).contains(y))
    }
}

/// Prints a text that [`Points::parse`] reads.
impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, [x, y]) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(";")?;
            }
            x.print(f)?;
            f.write_str("=")?;
            y.print(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_between_points_and_level_outside() {
        let p = Points::parse("0.25=1;0.5=3;1=0", 0.0, 4.0).unwrap();
        for (x, y) in [(0.0, 1.0), (0.25, 1.0), (0.375, 2.0), (0.5, 3.0), (0.75, 1.5), (1.0, 0.0)] {
            assert_eq!(p.at(x), y, "{x}");
        }
        assert_eq!(p.at(f64::NAN), 0.0);
    }

    #[test]
    fn errors_name_their_position() {
        use PointsProblem as P;
        for (text, at, problem) in [
            ("", 0..0, P::Form),
            ("0=0;", 4..4, P::Form),
            ("0=0; 1", 5..6, P::Form),
            ("0=0;x=1", 4..7, P::Form),
            ("0=0;1.5=1", 4..9, P::X(1.5)),
            ("0=0;1=9", 4..7, P::Y(9.0, 0.0, 4.0)),
            ("0=0;.5=1;.4=2;1=0", 9..13, P::Order(0.5, 0.4)),
            ("0=0;0=1", 4..7, P::Order(0.0, 0.0)),
        ] {
            assert_eq!(Points::parse(text, 0.0, 4.0), Err(PointsError { at, problem }), "{text}");
        }
        assert!(Points::parse("0=nan", 0.0, 4.0).is_err());
        let many: Vec<String> = (0..=MAX_POINTS).map(|i| format!("{}=0", i as f64 / 1000.0)).collect();
        let e = Points::parse(&many.join(";"), 0.0, 4.0).unwrap_err();
        assert_eq!(e.problem, P::Many);
    }
}
