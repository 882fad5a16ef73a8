//! Keyframe lists of Lottie (bodymovin).
//!
//! ```text
//! [{"t": 0, "s": [10], "o": {"x": [0.3], "y": [0]}, "i": {"x": [0.7], "y": [1]}},
//!  {"t": 24, "s": [50], "h": 1},
//!  {"t": 48, "s": [0]}]
//! ```
//!
//! `t` is the frame, `s` the value (a number or a list), `o` and `i` the handles at both ends of the stretch that
//! begins there: `x` is the fraction of the time, `y` the fraction of the change of value. `h` holds. Without
//! handles the stretch is a line. Older files have the next key's value in `e`, which is used for a last key without
//! `s`. The reader also accepts a property, `{"a": 1, "k": [...]}` or `{"a": 0, "k": 5}`, and an object of several,
//! `{"x": {...}, "y": [...]}`.
//!
//! A value of several numbers gives one curve for each: `position.x`, `position.y`; three or more are numbered.

use grainfield_filters::curve::{Curve, Handles, Key, KeyTime, MAX_KEYS, Shape};
use grainfield_filters::ratio::Ratio;
use serde_json::{Value, json};

/// An error in a keyframe list.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LottieError {
    /// Invalid JSON.
    #[error("not valid JSON: {0}")]
    Json(String),
    /// The JSON is not a list of keys.
    #[error("not a keyframe list: expected a list of {{\"t\": frame, \"s\": [value]}}, or {{\"k\": ...}}")]
    Form,
    /// An invalid key.
    #[error("'{0}', key {1}: {2}")]
    Key(String, usize, &'static str),
    /// Keys that do not form a valid curve.
    #[error("'{0}': {1}")]
    Curve(String, grainfield_filters::curve::CurveError),
    /// A shape without handles, which Lottie cannot express.
    #[error("key {0} has a shape without handles ({1})")]
    Shape(usize, String),
    /// A key in seconds.
    #[error("Lottie counts frames, and this curve's keys are in seconds")]
    Seconds,
}

/// Reads curves from a keyframe list, by name; a list without a name is named `name`. With a rate, times are
/// converted to seconds.
///
/// # Errors
/// [`LottieError`] if the text is no keyframe list, or its keys form no curve.
pub fn lottie(text: &str, name: &str, rate: Option<Ratio>) -> Result<Vec<(String, Curve)>, LottieError> {
    let value: Value = serde_json::from_str(text).map_err(|e| LottieError::Json(e.to_string()))?;
    let mut all = Vec::new();
    match &value {
        Value::Object(map) if !map.contains_key("k") => {
            for (name, property) in map {
                all.extend(property_of(property, name, rate)?);
            }
        }
        other => all = property_of(other, name, rate)?,
    }
    if all.is_empty() { Err(LottieError::Form) } else { Ok(all) }
}

/// The curves of a property, `{"k": ...}`, a list of keys or a constant.
pub(super) fn property_of(
    value: &Value,
    name: &str,
    rate: Option<Ratio>,
) -> Result<Vec<(String, Curve)>, LottieError> {
    let value = match value {
        Value::Object(map) => map.get("k").ok_or(LottieError::Form)?,
        other => other,
    };
    let keys = match value {
        Value::Array(list) if list.first().is_some_and(Value::is_object) => list.clone(),
        // A constant value.
        Value::Number(_) => vec![json!({"t": 0, "s": [value]})],
        Value::Array(list) if !list.is_empty() => vec![json!({"t": 0, "s": list})],
        _ => return Err(LottieError::Form),
    };
    if keys.len() > MAX_KEYS {
        return Err(LottieError::Curve(name.into(), grainfield_filters::curve::CurveError::TooMany));
    }
    let fault = |i: usize, what| LottieError::Key(name.into(), i + 1, what);
    let values = keys.iter().enumerate().map(|(i, key)| {
        let own = key.get("s").or_else(|| keys[i.checked_sub(1)?].get("e"));
        let list = match own {
            Some(Value::Array(list)) => list.iter().map(Value::as_f64).collect(),
            Some(other) => other.as_f64().map(|v| vec![v]),
            None => None,
        };
        list.filter(|l| !l.is_empty() && l.len() <= 16)
            .ok_or_else(|| fault(i, "\"s\" should be a value, or a list of up to 16"))
    });
    let values: Vec<Vec<f64>> = values.collect::<Result<_, _>>()?;
    let parts = values[0].len();
    if let Some(i) = values.iter().position(|v| v.len() != parts) {
        return Err(fault(i, "it has a different number of values than the first key"));
    }
    let mut all = Vec::new();
    for part in 0..parts {
        let mut list = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let at = time(key, rate).map_err(|what| fault(i, what))?;
            let (a, b) = (values[i][part], values.get(i + 1).map_or(values[i][part], |v| v[part]));
            let shape = shape(key, part, b - a).map_err(|what| fault(i, what))?;
            list.push(Key { at, value: a, shape });
        }
        let name = match (parts, part) {
            (1, _) => name.to_owned(),
            (2, 0) => format!("{name}.x"),
            (2, _) => format!("{name}.y"),
            (_, part) => format!("{name}.{}", part + 1),
        };
        let curve = Curve::new(list).map_err(|e| LottieError::Curve(name.clone(), e))?;
        all.push((name, curve));
    }
    Ok(all)
}

fn time(key: &Value, rate: Option<Ratio>) -> Result<KeyTime, &'static str> {
    let t = key.get("t").filter(|t| t.is_number()).ok_or("\"t\" should be the frame")?.to_string();
    let t: Ratio = t.parse().map_err(|_| "\"t\" should be a plain number")?;
    match rate {
        Some(rate) if t >= Ratio::ZERO => t.checked_div(rate).map(KeyTime::Seconds).ok_or("the rate is 0"),
        Some(_) => Err("seconds start at 0"),
        None if t.den() == 1 && t.num() >= 0 => Ok(KeyTime::Frame(t.num())),
        None if t.den() == 1 => Err("its frame is before the first"),
        None => Err("its frame is not a whole number: give the frame rate to get keys in seconds"),
    }
}

fn shape(key: &Value, part: usize, way: f64) -> Result<Shape, &'static str> {
    if ["to", "ti"].iter().any(|k| key.get(k).is_some_and(bends)) {
        return Err("paths that are curved in space (\"to\", \"ti\") are not supported: make them straight");
    }
    if key.get("h").is_some_and(|h| h.as_f64() == Some(1.0) || h.as_bool() == Some(true)) {
        return Ok(Shape::Hold);
    }
    let (Some(o), Some(i)) = (key.get("o"), key.get("i")) else { return Ok(Shape::Linear) };
    let [ox, oy] = handle(o, part)?;
    let [ix, iy] = handle(i, part)?;
    // Handles on the straight line between the keys.
    if ox == oy && ix == iy {
        return Ok(Shape::Linear);
    }
    let (leave, arrive) = (ox.clamp(0.0, 1.0), ix.clamp(0.0, 1.0));
    Ok(Shape::Bezier(Handles { leave, leave_by: oy * way, arrive, arrive_by: (iy - 1.0) * way }))
}

fn bends(tangent: &Value) -> bool {
    tangent.as_array().is_some_and(|t| t.iter().any(|v| v.as_f64() != Some(0.0)))
}

fn handle(value: &Value, part: usize) -> Result<[f64; 2], &'static str> {
    let number = |name: &str| {
        let v = value.get(name)?;
        // One number for all components, or one for each.
        let v = v.as_array().map_or(Some(v), |list| list.get(part).or(list.first()))?;
        v.as_f64()
    };
    match (number("x"), number("y")) {
        (Some(x), Some(y)) => Ok([x, y]),
        _ => Err("a handle is written {\"x\": [0.3], \"y\": [0]}"),
    }
}

/// Writes a curve with keys in frames as a keyframe list, if its shapes are linear, hold or have handles.
///
/// # Errors
/// [`LottieError`] if keys are in seconds, or a shape has no handles.
pub fn to_lottie(curve: &Curve) -> Result<Value, LottieError> {
    let keys = curve.keys();
    let mut list = Vec::new();
    for (i, key) in keys.iter().enumerate() {
        let KeyTime::Frame(t) = key.at else { return Err(LottieError::Seconds) };
        let next = keys.get(i + 1);
        let way = next.map_or(0.0, |next| next.value - key.value);
        // The fraction of the change of value; if the value does not change, no handle can have an offset.
        let part = |by: f64| match (by == 0.0, way == 0.0) {
            (true, _) => Some(0.0),
            (false, true) => None,
            (false, false) => Some(by / way),
        };
        let handles = |leave: f64, by: f64, arrive: f64, back: f64| {
            let no_way = || {
                let why = "its handles leave the value although both keys have the same one";
                LottieError::Shape(i + 1, why.into())
            };
            let (y0, y1) = (part(by).ok_or_else(no_way)?, part(back).ok_or_else(no_way)? + 1.0);
            let (o, i) = (json!({"x": [leave], "y": [y0]}), json!({"x": [arrive], "y": [y1]}));
            Ok(json!({"t": t, "s": [key.value], "o": o, "i": i}))
        };
        list.push(match (&key.shape, next) {
            (_, None) => json!({"t": t, "s": [key.value]}),
            (Shape::Hold, _) => json!({"t": t, "s": [key.value], "h": 1}),
            (Shape::Linear, _) => {
                json!({"t": t, "s": [key.value], "o": {"x": [0.167], "y": [0.167]}, "i": {"x": [0.833], "y": [0.833]}})
            }
            (Shape::Bezier(h), _) => handles(h.leave, h.leave_by, h.arrive, h.arrive_by)?,
            (Shape::Hermite { leave, arrive }, Some(next)) => {
                let (KeyTime::Frame(a), KeyTime::Frame(b)) = (key.at, next.at) else { return Err(LottieError::Seconds) };
                let h = (b - a) as f64;
                handles(1.0 / 3.0, leave * h / 3.0, 2.0 / 3.0, -arrive * h / 3.0)?
            }
            (other, _) => return Err(LottieError::Shape(i + 1, other.to_string())),
        });
    }
    Ok(Value::Array(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let all = lottie(text, "v", None).map_err(|e| e.to_string())?;
        Ok(all.iter().map(|(n, c)| format!("{n}: {c}")).collect::<Vec<_>>().join(" / "))
    }

    #[test]
    fn lists_become_curves() {
        let list = r#"[{"t":0,"s":[10],"o":{"x":[0.3],"y":[0]},"i":{"x":[0.7],"y":[1]}},{"t":24,"s":[50],"h":1},{"t":48,"s":[0]}]"#;
        assert_eq!(read(list).unwrap(), "v: 0(bezier 0.3 0 0.7 0)=10;24|=50;48=0");
        assert_eq!(read(&format!(r#"{{"a":1,"k":{list}}}"#)), read(list));
        assert_eq!(read(r#"{"o":{"a":0,"k":5},"p":{"k":[1,2]}}"#).unwrap(), "o: 0=5 / p.x: 0=1 / p.y: 0=2");
        let old = r#"[{"t":0,"s":[1,2,3],"e":[4,5,6],"o":{"x":0.5,"y":0.5},"i":{"x":0.5,"y":0.5}},{"t":9}]"#;
        assert_eq!(read(old).unwrap(), "v.1: 0=1;9=4 / v.2: 0=2;9=5 / v.3: 0=3;9=6");
        let half = r#"[{"t":0.5,"s":1},{"t":1.5,"s":2}]"#;
        assert!(read(half).unwrap_err().contains("frame rate"));
        let seconds = lottie(half, "v", Some(Ratio::whole(24))).unwrap();
        assert_eq!(seconds[0].1.to_string(), "1/48s=1;0.0625s=2");
        for bad in [
            "",
            "[]",
            "{}",
            r#"[{"t":0}]"#,
            r#"[{"s":[1]}]"#,
            r#"[{"t":3,"s":[1]},{"t":1,"s":[1]}]"#,
            r#"[{"t":0,"s":[1],"o":{},"i":{}},{"t":1,"s":[1]}]"#,
            r#"[{"t":0,"s":[0,0],"to":[1,0]},{"t":1,"s":[1,1]}]"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn curves_become_lists_and_curves_again() {
        for text in ["0=1;10=2;15|=2;20=5", "0(bezier 0.25 8 0.5 -4)=0;8=16", "3=1"] {
            let curve: Curve = text.parse().unwrap();
            let list = to_lottie(&curve).unwrap().to_string();
            assert_eq!(read(&list).unwrap(), format!("v: {text}"));
        }
        let hermite: Curve = "0(hermite 1 -2)=0;9=3".parse().unwrap();
        let back = lottie(&to_lottie(&hermite).unwrap().to_string(), "v", None).unwrap().remove(0).1;
        for i in 0..=9 {
            let at = Ratio::whole(i);
            assert!((back.value_at(at) - hermite.value_at(at)).abs() < 1e-12);
        }
        assert!(to_lottie(&"0a=1;2=3".parse().unwrap()).unwrap_err().to_string().contains("sine-in"));
        assert!(to_lottie(&"0s=1".parse().unwrap()).is_err());
        assert!(to_lottie(&"0(bezier 0 1 1 0)=1;2=1".parse().unwrap()).is_err());
    }
}
