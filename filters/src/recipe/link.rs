//! Values that stand in files: `@tracks.gfa#name`.

use super::Recipe;
use crate::settings::common::OPACITY;
use crate::settings::{FileAsset, ImageAsset, Setting, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// A setting whose curve stands in a file. The recipe only names it; the host reads it and hands the curve in.
#[derive(Clone, Debug)]
pub struct Link {
    /// Which filter of the recipe, from 0.
    pub step: usize,
    /// The setting.
    pub setting: &'static Setting,
    /// The file.
    pub file: PathBuf,
    /// The track in it; `None` is the only one.
    pub track: Option<String>,
    /// What stood there when it was read: the MD5 of the curve's text.
    pub digest: Option<u128>,
}

/// Equal when the same setting takes the same track; whether it has been read does not matter.
impl PartialEq for Link {
    fn eq(&self, o: &Link) -> bool {
        (self.step, self.setting.id, &self.file, &self.track) == (o.step, o.setting.id, &o.file, &o.track)
    }
}

/// As it is written: `@FILE` or `@FILE#TRACK`.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.file.display())?;
        match &self.track {
            Some(track) => write!(f, "#{track}"),
            None => Ok(()),
        }
    }
}

/// The file and the track of a value that names them; `None` when it is a value itself, or the setting never moves.
pub(super) fn target(setting: &Setting, text: &str) -> Option<(PathBuf, Option<String>)> {
    let name = text.trim_ascii().strip_prefix('@').filter(|n| !n.is_empty() && setting.kind.animatable())?;
    Some(match name.split_once('#') {
        Some((file, track)) if !file.is_empty() && !track.is_empty() => (file.into(), Some(track.into())),
        _ => (name.into(), None),
    })
}

impl Recipe {
    /// The filters of another recipe behind this one's. Its seed, if it has one, takes the place of this one's.
    pub fn append(&mut self, more: Recipe) {
        let before = self.steps.len();
        self.steps.extend(more.steps);
        self.links.extend(more.links.into_iter().map(|l| Link { step: l.step + before, ..l }));
        self.seed = more.seed.or(self.seed);
    }

    /// Files that settings name (of curves, images and effects), where they are relative, are looked for in this
    /// folder.
    pub fn relative_to(&mut self, folder: &Path) {
        self.links.iter_mut().for_each(|link| link.file = folder.join(&link.file));
        for step in &mut self.steps {
            let moved = |name: &str| folder.join(name).to_string_lossy().into_owned();
            let named = step.values.iter_given().filter_map(|(setting, value)| {
                Some((
                    setting.id,
                    match value {
                        Value::Image(p) => Value::Image(ImageAsset::named(&moved(p.name()))),
                        Value::File(d) => Value::File(FileAsset::named(&moved(d.name()))),
                        _ => return None,
                    },
                ))
            });
            for (id, value) in named.collect::<Vec<_>>() {
                // It takes the place of a value of the same kind, so it is not refused.
                let _ = step.values.set(id, value);
            }
        }
    }

    /// Gives a linked setting the value that its file holds; the setting has checked it.
    pub fn give(&mut self, link: &Link, value: Value) {
        let Some(step) = self.steps.get_mut(link.step) else { return };
        match value {
            Value::Number(n) if link.setting.id == OPACITY => step.opacity = n,
            value => {
                // Checked against the same description, so it is not refused here.
                let _ = step.values.set(link.setting.id, value);
            }
        }
    }
}
