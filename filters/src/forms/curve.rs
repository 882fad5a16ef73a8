//! Curves for the editor: their keys, and samples computed by the library.

use super::recipe::{RecipeFault, setting};
use crate::curve::{Animate, Curve};
use crate::filter::particles::Layer;
use crate::filter::particles::keys::KeyType;
use crate::frame::FrameTime;
use crate::ratio::Ratio;
use crate::settings::{Animated, Kind, Value};
use serde::{Deserialize, Serialize};

/// The largest number of samples in an answer.
const MAX_SAMPLES: usize = 4096;
/// The largest number of keys that are shown.
const MAX_KEYS: usize = 2000;

/// A request: a setting's text, and the range of frames.
#[derive(Debug, Deserialize)]
pub struct CurveRequest {
    /// The clip, if there is one.
    pub clip: Option<u32>,
    filter: String,
    /// A setting of the filter, or else a key of the layers of its effect.
    setting: String,
    #[serde(default)]
    layer: bool,
    text: String,
    from: f64,
    to: f64,
    samples: usize,
}

/// A key.
#[derive(Debug, Serialize)]
struct Point {
    /// The time as written: `48`, `-1`, `1.5s`.
    at: String,
    /// The same as a frame.
    frame: f64,
    /// The components of the value.
    value: Vec<f64>,
    /// The shape of the stretch to the next key, in the form of the mark in parentheses.
    shape: String,
}

/// A curve for drawing.
#[derive(Debug, Serialize)]
pub struct Drawn {
    keys: Vec<Point>,
    before: &'static str,
    after: &'static str,
    /// For each component of the value: samples at equal distances from the first to the last requested
    /// frame.
    samples: Vec<Vec<f64>>,
}

/// When the frames of a clip begin, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Times<'a> {
    /// Frames per second.
    pub rate: Ratio,
    /// The number of the first frame.
    pub first: i64,
    /// When each frame begins, and last when the clip ends; empty at a constant rate.
    pub begins: &'a [Ratio],
}

impl From<Ratio> for Times<'_> {
    fn from(rate: Ratio) -> Self {
        Times { rate, first: 0, begins: &[] }
    }
}

impl Times<'_> {
    /// The times around frame `n`, or around the nearest one in the clip, and that frame.
    fn around(&self, n: i64) -> Option<(Ratio, [Ratio; 2])> {
        let last = self.begins.len().checked_sub(2)?;
        let i = usize::try_from(n.saturating_sub(self.first)).unwrap_or(0).min(last);
        Some((Ratio::whole(self.first.saturating_add(i as i64)), [self.begins[i], self.begins[i + 1]]))
    }

    /// Between two frames, time passes evenly; beyond the ends as in the first or last frame.
    fn time(&self, frame: Ratio) -> Ratio {
        match self.around(frame.floor()) {
            Some((n, [begin, end])) => begin + (frame - n) * (end - begin),
            None => frame.checked_div(self.rate).unwrap_or(Ratio::ZERO),
        }
    }

    fn frame(&self, time: Ratio) -> Ratio {
        let before = self.begins.partition_point(|begin| *begin <= time).saturating_sub(1);
        match self.around(self.first.saturating_add(before as i64)) {
            Some((n, [begin, end])) => n + (time - begin).checked_div(end - begin).unwrap_or(Ratio::ZERO),
            None => time * self.rate,
        }
    }
}

/// Draws a curve of a clip with these first and last frames.
///
/// # Errors
/// The text is no value of the setting, which may not be one that can be animated.
pub fn draw<'a>(
    request: &CurveRequest,
    clip: (i64, Option<i64>),
    times: impl Into<Times<'a>>,
) -> Result<Drawn, RecipeFault> {
    let times = times.into();
    if request.layer {
        return of_layer(request, times);
    }
    let setting = setting(&request.filter, &request.setting)?;
    let value = setting.parse(&request.text).map_err(|e| RecipeFault::new(e.problem))?;
    match (setting.kind, value) {
        (Kind::Number { min, max }, Value::Number(v)) => sampled(request, v, (min, max), clip, times),
        (Kind::Position { min, max }, Value::Position(v)) => sampled(request, v, (min, max), clip, times),
        (Kind::Colour, Value::Colour(v)) => sampled(request, v, (0.0, 1.0), clip, times),
        _ => Err(RecipeFault::new(format!("{} cannot be animated", setting.id))),
    }
}

/// Of an effect, which has no last frame.
fn of_layer(request: &CurveRequest, times: Times<'_>) -> Result<Drawn, RecipeFault> {
    let text = request.text.trim();
    match Layer::keys().find(|key| key.id == request.setting).map(|key| key.key_type) {
        Some(KeyType::Rate(max)) => {
            let curve = text.parse().map_err(RecipeFault::new)?;
            sampled(request, Animated::<f64>::Curve(curve), (0.0, max), (0, None), times)
        }
        Some(KeyType::Path) => {
            let curve = text.parse().map_err(RecipeFault::new)?;
            sampled(request, Animated::<[f64; 2]>::Curve(curve), (f64::MIN, f64::MAX), (0, None), times)
        }
        _ => Err(RecipeFault::new(format!("{} cannot be animated", request.setting))),
    }
}

fn sampled<T: Animate>(
    request: &CurveRequest,
    value: Animated<T>,
    (min, max): (f64, f64),
    (first, last): (i64, Option<i64>),
    times: Times<'_>,
) -> Result<Drawn, RecipeFault> {
    let resolved = value.resolve(first, last).map_err(RecipeFault::new)?.clamped(min, max);
    let keys = match (&value, &resolved) {
        (Animated::Curve(curve), Animated::Curve(resolved)) => points(curve, resolved, times),
        _ => Vec::new(),
    };
    let (before, after) = match &value {
        Animated::Curve(c) => (c.before().name(), c.after().name()),
        Animated::Constant(_) => ("hold", "hold"),
    };
    let count = request.samples.clamp(1, MAX_SAMPLES);
    let mut samples = vec![Vec::with_capacity(count); T::COMPONENTS];
    for i in 0..count {
        let part = i as f64 / (count - 1).max(1) as f64;
        // A thousandth of a frame is finer than any screen.
        let at = ((request.from + (request.to - request.from) * part) * 1000.0).round() as i64;
        let frame = Ratio::new(at, 1000).unwrap_or(Ratio::ZERO);
        let value = resolved.at(&FrameTime {
            index: frame.floor(),
            frame,
            time: times.time(frame),
            late: Ratio::ZERO,
        });
        samples.iter_mut().enumerate().for_each(|(c, list)| list.push(value.component(c)));
    }
    Ok(Drawn { keys, before, after, samples })
}

/// The keys, with their times as they are written, and by frame in the clip.
fn points<T: Animate>(curve: &Curve<T>, resolved: &Curve<T>, times: Times<'_>) -> Vec<Point> {
    let frame = |at: Ratio| if curve.in_seconds() { times.frame(at).to_f64() } else { at.to_f64() };
    // In a short clip, keys in percent may be less.
    let curve = if curve.keys().len() == resolved.keys().len() { curve } else { resolved };
    let keys = curve.keys().iter().zip(resolved.keys()).take(MAX_KEYS).map(|(key, resolved)| Point {
        at: key.at.to_string(),
        frame: frame(resolved.at.ratio()),
        value: parts(&key.value),
        shape: key.shape.to_string(),
    });
    keys.collect()
}

fn parts<T: Animate>(value: &T) -> Vec<f64> {
    (0..T::COMPONENTS).map(|i| value.component(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> CurveRequest {
        CurveRequest {
            clip: None,
            filter: "noise".into(),
            setting: "strength".into(),
            layer: false,
            text: text.into(),
            from: 0.0,
            to: 10.0,
            samples: 11,
        }
    }

    #[test]
    fn samples_are_the_librarys_and_keys_read_back() {
        let drawn =
            draw(&request("0(sine-in)=0;1s=4;-1(hold)=8"), (0, Some(10)), Ratio::whole(5)).unwrap_err();
        assert!(drawn.text.contains("seconds"), "{}", drawn.text);
        let drawn = draw(&request("0(sine-in)=0;5=4;-1(hold)=8"), (0, Some(10)), Ratio::whole(5)).unwrap();
        let shapes: Vec<_> = drawn.keys.iter().map(|k| (k.at.as_str(), k.frame, k.shape.as_str())).collect();
        assert_eq!(shapes, [("0", 0.0, "sine-in"), ("5", 5.0, "linear"), ("-1", 10.0, "hold")]);
        assert_eq!((drawn.samples[0][0], drawn.samples[0][5], drawn.samples[0][10]), (0.0, 4.0, 8.0));
        // 1 - cos(pi/2 * 0.4), computed with a calculator.
        assert!((drawn.samples[0][2] - 4.0 * 0.190_983_005_625).abs() < 1e-9);
        for text in ["0(hermite 0.5 -2)=1;9=2", "0(bezier 0.25 1 0.75 -2)=1;9=2"] {
            let drawn = draw(&request(text), (0, None), Ratio::whole(5)).unwrap();
            assert!(text.contains(&format!("({})", drawn.keys[0].shape)), "{}", drawn.keys[0].shape);
        }
    }

    #[test]
    fn curves_of_effects_are_sampled() {
        let layer = |setting: &str, text: &str| CurveRequest {
            layer: true,
            setting: setting.into(),
            ..request(text)
        };
        let [a, b, c] = [0, 1, 4].map(Ratio::whole);
        let times = Times { rate: Ratio::whole(5), first: 3, begins: &[a, b, c] };
        let drawn = draw(&request("0s=0;2.5s=4"), (3, Some(4)), times).unwrap();
        assert_eq!(drawn.keys.iter().map(|k| k.frame).collect::<Vec<_>>(), [3.0, 4.5]);
        assert_eq!([2, 3, 4, 6].map(|n| times.time(Ratio::whole(n))), [-1, 0, 1, 7].map(Ratio::whole));

        let drawn = draw(&layer("rate", "0=10;5=20"), (0, Some(10)), Ratio::whole(5)).unwrap();
        assert_eq!((drawn.samples[0][1], drawn.samples[0][10]), (12.0, 20.0));
        let drawn = draw(&layer("path", "0s=0,1;1s=1,0.5"), (0, None), Ratio::whole(5)).unwrap();
        assert_eq!((drawn.samples[0][5], drawn.samples[1][5]), (1.0, 0.5));
        assert!(draw(&layer("life", "0=0;5=1"), (0, None), Ratio::ONE).is_err());
        assert!(draw(&layer("rate", "0=0;5*=1"), (0, None), Ratio::ONE).is_err());
    }

    #[test]
    fn settings_that_cannot_be_animated_and_invalid_curves_are_errors() {
        assert!(
            draw(&CurveRequest { setting: "seed".into(), ..request("1") }, (0, None), Ratio::ONE).is_err()
        );
        assert!(draw(&request("0*=1"), (0, None), Ratio::ONE).is_err());
        assert!(draw(&CurveRequest { samples: usize::MAX, ..request("1") }, (0, None), Ratio::ONE).is_ok());
    }
}
