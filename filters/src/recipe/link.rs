//! Values stored in files: `@tracks.gfa#name`.

use super::Recipe;
use crate::settings::{FileAsset, ImageAsset, Kind, Setting, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// A setting whose curve is stored in a file. The recipe contains only its name; the host reads the file and
/// supplies the curve.
#[derive(Clone, Debug)]
pub struct Link {
    /// The index of the filter in the recipe, from 0.
    pub step: usize,
    /// The setting.
    pub setting: &'static Setting,
    /// The file.
    pub file: PathBuf,
    /// The name of the track; `None` for a file with a single track.
    pub track: Option<String>,
    /// The MD5 of the text of the curve, if it has been read.
    pub digest: Option<u128>,
}

/// Links are equal if the same setting refers to the same track, whether it has been read or not.
impl PartialEq for Link {
    fn eq(&self, o: &Link) -> bool {
        (self.step, self.setting.id, &self.file, &self.track) == (o.step, o.setting.id, &o.file, &o.track)
    }
}

/// Prints `@FILE` or `@FILE#TRACK`.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.file.display())?;
        match &self.track {
            Some(track) => write!(f, "#{track}"),
            None => Ok(()),
        }
    }
}

/// The file and track that a value refers to; `None` if the text is a value itself or the setting cannot be
/// animated.
pub(super) fn target(setting: &Setting, text: &str) -> Option<(PathBuf, Option<String>)> {
    let name = text.trim_ascii().strip_prefix('@').filter(|n| !n.is_empty() && setting.kind.animatable())?;
    Some(match name.split_once('#') {
        Some((file, track)) if !file.is_empty() && !track.is_empty() => (file.into(), Some(track.into())),
        _ => (name.into(), None),
    })
}

impl Recipe {
    /// Appends the filters of another recipe. Its seed, if it has one, replaces this one's.
    pub fn append(&mut self, more: Recipe) {
        let before = self.steps.len();
        self.steps.extend(more.steps);
        self.links.extend(more.links.into_iter().map(|l| Link { step: l.step + before, ..l }));
        self.seed = more.seed.or(self.seed);
    }

    /// Makes relative names of files (curves, images and effects) relative to this folder.
    pub fn relative_to(&mut self, folder: &Path) {
        self.links.iter_mut().for_each(|link| link.file = folder.join(&link.file));
        for step in &mut self.steps {
            let moved = |name: &str| folder.join(name).to_string_lossy().into_owned();
            let is_no_file = |kind: Kind, name: &str| kind.is_word(name) || kind.clip_number(name).is_some();
            let named = step.iter_given().filter_map(|(setting, value)| {
                Some((
                    setting.id,
                    match value {
                        Value::Image(p) => Value::Image(ImageAsset::named(&moved(p.name()))),
                        Value::File(d) if !is_no_file(setting.kind, d.name()) => {
                            Value::File(FileAsset::named(&moved(d.name())))
                        }
                        _ => return None,
                    },
                ))
            });
            for (id, value) in named.collect::<Vec<_>>() {
                // The new value has the kind of the old one, so `set` does not fail.
                let _ = step.set_value(id, value);
            }
        }
    }

    /// Supplies the value that a linked setting's file contains; the setting has checked it.
    pub fn set_link(&mut self, link: &Link, value: Value) {
        let Some(step) = self.steps.get_mut(link.step) else { return };
        // The value was checked against the same description, so this does not fail.
        let _ = step.set_value(link.setting.id, value);
    }
}
