//! Settings that read their curve from a file: `strength=@tracks.gfa#name`.

use super::{lottie, open_tracks};
use grainfield_filters::curve::stream::StreamError;
use grainfield_filters::curve::{Animate, Curve, Handles, Key, KeyTime, Shape, TextError};
use grainfield_filters::frame::md5;
use grainfield_filters::recipe::{Link, Recipe};
use grainfield_filters::settings::{Animated, Kind, SettingError, Value};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The largest text file that is read for one curve.
const MAX_TEXT: u64 = 16 << 20;

/// An error while reading a setting's curve from a file.
#[derive(Debug, thiserror::Error)]
#[error("{link}: {cause}")]
pub struct AttachError {
    /// The setting and the file, as written.
    pub link: String,
    /// The error.
    pub cause: AttachProblem,
}

impl AttachError {
    /// Whether the user can fix the error by changing the recipe instead of the file.
    pub fn is_usage(&self) -> bool {
        !matches!(self.cause, AttachProblem::Read { .. } | AttachProblem::File(_))
    }
}

/// See [`AttachError`].
#[derive(Debug, thiserror::Error)]
pub enum AttachProblem {
    /// The file cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The track file is invalid.
    #[error(transparent)]
    File(#[from] StreamError),
    /// Invalid keyframe string.
    #[error("the keyframe string in it: {0} (at byte {at})", at = .0.at.start)]
    Text(#[from] TextError),
    /// Not UTF-8, or too long.
    #[error("the file is neither a track file nor text of at most 16 MiB")]
    NoText,
    /// Invalid keyframe list.
    #[error(transparent)]
    Lottie(#[from] super::lottie::LottieError),
    /// The file has no such track.
    #[error("it has no track '{0}'{1}")]
    NoTrack(String, String),
    /// The link names no track, and the file has several.
    #[error("it has {0} tracks: add the name after '#', as in @FILE#{1}")]
    Which(usize, String),
    /// The components of a position or colour have different key times.
    #[error(
        "the tracks '{0}' have keys at different times or of different shapes: the parts of a position or colour \
            must share their keys"
    )]
    Parts(String),
    /// The curve is not valid for this setting.
    #[error("{0}")]
    Setting(#[from] SettingError),
}

/// Reads all files that the links of a recipe name, each once, and sets the values. Links that were read
/// before are kept.
///
/// # Errors
/// [`AttachError`] for the first file that cannot be read or has no such curve.
pub fn attach(recipe: &mut Recipe) -> Result<(), AttachError> {
    for i in 0..recipe.links.len() {
        if recipe.links[i].digest.is_some() {
            continue;
        }
        let link = recipe.links[i].clone();
        let value = load(&link)
            .map_err(|cause| AttachError { link: format!("{}={link}", link.setting.id), cause })?;
        recipe.links[i].digest = Some(md5(value.to_string()));
        recipe.set_link(&link, value);
    }
    Ok(())
}

fn load(link: &Link) -> Result<Value, AttachProblem> {
    let value = match link.setting.kind {
        Kind::Position { .. } => Value::Position(Animated::Curve(parts(link, &["x", "y"])?)),
        Kind::Colour => Value::Colour(Animated::Curve(parts(link, &["r", "g", "b", "a"])?)),
        _ => Value::Number(Animated::Curve(one(&link.file, link.track.as_deref())?)),
    };
    link.setting.check(&value)?;
    Ok(value)
}

/// A position or a colour from one track per component: `name.x`, `name.y`.
fn parts<T: Animate>(link: &Link, names: &[&str]) -> Result<Curve<T>, AttachProblem> {
    let named = |part: &str| link.track.as_ref().map_or_else(|| part.to_owned(), |t| format!("{t}.{part}"));
    let all: Vec<String> = names.iter().map(|part| named(part)).collect();
    let curves: Vec<Curve> =
        all.iter().map(|name| one(&link.file, Some(name))).collect::<Result<_, AttachProblem>>()?;
    together(&curves).ok_or_else(|| AttachProblem::Parts(all.join("', '")))
}

fn together<T: Animate>(curves: &[Curve]) -> Option<Curve<T>> {
    let first = curves.first()?;
    let same = |c: &Curve| {
        (c.keys().len(), c.before(), c.after()) == (first.keys().len(), first.before(), first.after())
    };
    if curves.len() != T::COMPONENTS || !curves.iter().all(same) {
        return None;
    }
    let keys = (0..first.keys().len()).map(|i| {
        let all: Vec<&Key> = curves.iter().map(|c| &c.keys()[i]).collect();
        let combined = |get: fn(&Shape) -> Option<f64>| -> Option<T> {
            let all: Vec<f64> = all.iter().map(|k| get(&k.shape)).collect::<Option<_>>()?;
            Some(T::from_components(|part| all[part]))
        };
        let like = all.iter().all(|k| k.at == all[0].at);
        let equal = all.iter().all(|k| k.shape == all[0].shape);
        let shape = match all[0].shape {
            Shape::Hold if equal => Shape::Hold,
            Shape::Linear if equal => Shape::Linear,
            Shape::Smooth if equal => Shape::Smooth,
            Shape::BSpline if equal => Shape::BSpline,
            Shape::Ease(ease) if equal => Shape::Ease(ease),
            Shape::Hermite { .. } => Shape::Hermite {
                leave: combined(|s| if let Shape::Hermite { leave, .. } = s { Some(*leave) } else { None })?,
                arrive: combined(
                    |s| if let Shape::Hermite { arrive, .. } = s { Some(*arrive) } else { None },
                )?,
            },
            Shape::Bezier(h) => {
                let at = |s: &Shape| if let Shape::Bezier(o) = s { Some((o.leave, o.arrive)) } else { None };
                all.iter().all(|k| at(&k.shape) == Some((h.leave, h.arrive))).then_some(())?;
                Shape::Bezier(Handles {
                    leave: h.leave,
                    leave_by: combined(|s| if let Shape::Bezier(h) = s { Some(h.leave_by) } else { None })?,
                    arrive: h.arrive,
                    arrive_by: combined(|s| if let Shape::Bezier(h) = s { Some(h.arrive_by) } else { None })?,
                })
            }
            _ => return None,
        };
        let at: KeyTime = all[0].at;
        like.then(|| Key { at, value: T::from_components(|part| all[part].value), shape })
    });
    let curve = Curve::new(keys.collect::<Option<Vec<_>>>()?).ok()?;
    Some(curve.with_extrapolation(first.before(), first.after()))
}

/// One curve from a track file, a Lottie keyframe list (`.json`) or a file that holds a keyframe string.
///
/// # Errors
/// [`AttachProblem`] if the file cannot be read or has no such track.
pub fn one(path: &Path, track: Option<&str>) -> Result<Curve, AttachProblem> {
    let failed = |cause| AttachProblem::Read { path: path.into(), cause };
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if extension == "gfa" {
        let file = open_tracks(path)?;
        let names = file.names();
        let name = chosen(track, names.iter().map(String::as_str))?;
        return match file.curve(&name)? {
            Some(curve) => Ok(curve),
            None => Err(no_track(&name, names.iter().map(String::as_str))),
        };
    }
    let file = grainfield_io::disk::reach::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).ok().filter(|t| t.len() as u64 <= MAX_TEXT);
    let text = text.ok_or(AttachProblem::NoText)?;
    if extension == "json" {
        let all = lottie(&text, track.unwrap_or("value"), None)?;
        let name = chosen(track, all.iter().map(|(n, _)| n.as_str()))?;
        return match all.iter().find(|(n, _)| *n == name) {
            Some((_, curve)) => Ok(curve.clone()),
            None => Err(no_track(&name, all.iter().map(|(n, _)| n.as_str()))),
        };
    }
    match track {
        Some(name) => Err(no_track(name, std::iter::empty())),
        None => Ok(text.trim().parse()?),
    }
}

/// The requested track, or the only one.
fn chosen<'a>(
    track: Option<&str>,
    mut names: impl Iterator<Item = &'a str>,
) -> Result<String, AttachProblem> {
    if let Some(track) = track {
        return Ok(track.into());
    }
    let first = names.next();
    let more = names.count();
    match first {
        Some(first) if more == 0 => Ok(first.into()),
        first => {
            Err(AttachProblem::Which(more + usize::from(first.is_some()), first.unwrap_or("name").into()))
        }
    }
}

/// The error that a file has no track of this name, with the nearest of its names.
pub fn no_track<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> AttachProblem {
    let hint = grainfield_filters::recipe::nearest(name, names).map_or(String::new(), |n| format!("; {n}"));
    AttachProblem::NoTrack(name.into(), hint)
}
