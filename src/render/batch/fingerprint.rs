//! The settings, inputs and output of a finished job, by which a later run tells whether the output is still its result.
//! As in manifests, files are compared by name, size and time of change; their contents are not read.

use super::jobs::{BatchJob, JobOption};
use super::output_path::output_path;
use grainfield_io::disk::FileRef;
use grainfield_io::format::{Files, Formats};
use grainfield_io::journal::resume::{XxHash64, difference, file_id};
use grainfield_io::journal::segments;
use grainfield_io::journal::shard::Shard;
use grainfield_io::sink::Output;
use grainfield_io::source;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

/// Resolves the options of a job to the settings that affect the contents of its output, with names of files relative to
/// the list: the same for all spellings, with defaults.
pub type Resolve = fn(&BatchJob, &Scope) -> BTreeMap<String, String>;

/// Resolves the options of jobs.
pub fn resolve(jobs: &mut [BatchJob], scope: &Scope, resolve: Resolve) {
    // most jobs of a list have the options of another
    let mut known: BTreeMap<(PathBuf, Vec<JobOption>), BTreeMap<String, String>> = BTreeMap::new();
    for job in jobs {
        let key = (job.folder.clone(), job.options.clone());
        let settings = known.entry(key).or_insert_with(|| resolve(job, scope));
        job.settings.clone_from(settings);
    }
}

/// Files as they were at one time.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// The number of existing files.
    files: usize,
    /// The hash of their names, sizes and times of change.
    sum: u64,
}

impl Stamp {
    fn new(paths: impl IntoIterator<Item = PathBuf>) -> Stamp {
        let (mut files, mut sum) = (0, XxHash64::default());
        for path in paths {
            let id = path.metadata().map_or(0, |meta| file_id(&path, &meta));
            files += usize::from(id != 0);
            sum.write(&id.to_le_bytes());
        }
        Stamp { files, sum: sum.finish() }
    }
}

/// The folders of a list and the shard, which are the same for all its jobs.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The folder of the list. Paths are recorded relative to it, so that other machines may mount it elsewhere.
    pub folder: PathBuf,
    /// The folder for outputs.
    pub outputs: PathBuf,
    /// The shard, if only one is rendered.
    pub shard: Option<Shard>,
}

/// The settings, inputs and output of a job.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The input, and the settings of the job.
    settings: BTreeMap<String, String>,
    /// The files that are read, by their paths; those of a sequence under that of the input.
    reads: BTreeMap<String, Stamp>,
    /// `None` if the output is not a file.
    output: Option<Stamp>,
}

/// The difference between a finished output and the result of its job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Files of the output are missing; with the reason. Numbered images that have changed count as missing: resuming
    /// checks each.
    Missing(&'static str),
    /// The output was rendered from other files or with other settings, or has changed; with the reason.
    Stale(String),
}

fn path(place: FileRef) -> Option<PathBuf> {
    if let FileRef::Path(path) = place { Some(path) } else { None }
}

impl Scope {
    /// A path relative to the folder of the list, if it is there.
    pub fn relative(&self, path: &Path) -> String {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let path = absolute(path);
        path.strip_prefix(absolute(&self.folder)).unwrap_or(&path).to_string_lossy().into_owned()
    }

    fn input(&self, input: &OsStr) -> String {
        let text = input.to_string_lossy();
        if text.starts_with("pattern:") { text.into_owned() } else { self.relative(Path::new(input)) }
    }

    /// A job as it is now, without its output and without files that only its options name. Its settings must be
    /// [resolved](resolve).
    pub fn fingerprint(&self, job: &BatchJob) -> Fingerprint {
        let own = [("input".to_owned(), self.input(&job.input))];
        let input = source::reads(&job.input).into_iter().filter_map(path);
        Fingerprint {
            settings: job.settings.clone().into_iter().chain(own).collect(),
            reads: [(self.input(&job.input), Stamp::new(input))].into(),
            output: None,
        }
    }

    /// Adds all files that a job reads, those of its input included or not.
    pub fn add_reads<'a>(
        &self,
        fingerprint: &mut Fingerprint,
        job: &BatchJob,
        reads: impl Iterator<Item = &'a FileRef>,
    ) {
        let input: BTreeSet<PathBuf> = source::reads(&job.input).into_iter().filter_map(path).collect();
        for path in reads.cloned().filter_map(path).filter(|path| !input.contains(path)) {
            fingerprint.reads.insert(self.relative(&path), Stamp::new([path]));
        }
    }

    /// The same job after it was rendered.
    pub fn rendered(&self, fingerprint: Fingerprint, job: &BatchJob) -> Fingerprint {
        Fingerprint { output: self.output(job).map(|(stamp, _)| stamp), ..fingerprint }
    }

    /// The files of the output, and whether resuming checks each of them.
    fn output(&self, job: &BatchJob) -> Option<(Stamp, bool)> {
        let name = output_path(&self.outputs, &job.output, true, false).ok()?;
        match (Output::parse(&name, Formats::default()).ok()?.files(), self.shard) {
            (Files::Nothing | Files::Stream(_), _) => None,
            (Files::One(path, _), Some(shard)) => {
                Some((Stamp::new([PathBuf::from(shard.named(path.as_os_str()))]), false))
            }
            (Files::One(path, _) | Files::Image(path), _) => Some((Stamp::new([path]), false)),
            (Files::Many(pattern), None) => {
                let existing = pattern.scan().unwrap_or_default();
                Some((Stamp::new(existing.into_iter().map(|n| pattern.path(n))), true))
            }
            // which files are those of the shard is known when the input is open
            (Files::Many(_), Some(_)) => Some((Stamp::default(), true)),
        }
    }

    /// Whether the output exists, or a part of it.
    pub fn exists(&self, job: &BatchJob) -> bool {
        self.output(job).is_some_and(|(stamp, _)| stamp.files > 0)
    }

    /// The folder of complete segments of the job, if there is one.
    pub fn segments(&self, job: &BatchJob) -> Option<PathBuf> {
        let name = output_path(&self.outputs, &job.output, true, false).ok()?;
        match Output::parse(&name, Formats::default()).ok()?.files() {
            Files::One(path, _) => Some(segments::folder(&path)).filter(|folder| folder.is_dir()),
            _ => None,
        }
    }

    /// Whether the job is still that which failed: with the same settings, and the same files in the way.
    pub fn is_unchanged(&self, job: &BatchJob, then: &Fingerprint) -> bool {
        let now = self.fingerprint(job);
        now.settings == then.settings && self.output(job).map(|(stamp, _)| stamp) == then.output
    }

    /// The difference between a finished job and its result on the disk.
    pub fn change(&self, job: &BatchJob, then: &Fingerprint) -> Option<Change> {
        let output = self.output(job);
        if let (Some((stamp, each)), Some(before)) = (output, then.output)
            && (stamp.files < before.files.max(1) || each && stamp != before)
        {
            return Some(Change::Missing(match (each, self.shard) {
                (false, _) => "its output is missing",
                (true, None) => "frames of its output are missing or have changed",
                (true, Some(_)) => "a run checks the frames of the shard",
            }));
        }
        let now = self.fingerprint(job);
        let stale = |text: String| Some(Change::Stale(format!("{} {text}", job.output.to_string_lossy())));
        if now.settings != then.settings {
            let json = |settings| serde_json::to_string(settings).unwrap_or_default();
            let difference = difference(&json(&now.settings), Some(&json(&then.settings)));
            return stale(format!("was made with other settings ({difference})"));
        }
        let changed = |(path, before): (&String, &Stamp)| match now.reads.get(path) {
            Some(now) => now != before,
            None => Stamp::new([self.folder.join(path)]) != *before,
        };
        if let Some((path, _)) = then.reads.iter().find(|read| changed(*read)) {
            return stale(format!("was made before {path} was changed"));
        }
        if output.map(|(stamp, _)| stamp) != then.output {
            return stale("was changed after it was rendered".into());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_make_another_output() {
        let scope = Scope { folder: "here".into(), outputs: "here".into(), shard: None };
        let job = |settings: &[(&str, &str)]| BatchJob {
            settings: settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
            ..BatchJob::new("pattern:bars", "null:")
        };
        let change = |was: &[_], is: &[_]| {
            let fingerprint = scope.rendered(scope.fingerprint(&job(was)), &job(was));
            scope.change(&job(is), &fingerprint)
        };
        let (a, b) = (("filters", "invert"), ("crf", "18"));
        assert_eq!(change(&[a, b], &[b, a]), None);
        let stale = |why: &str| Some(Change::Stale(format!("null: was made with other settings ({why})")));
        assert_eq!(change(&[a, b], &[a]), stale("crf is 18 instead of nothing"));
        assert_eq!(change(&[a], &[("filters", "noise")]), stale("filters is invert instead of noise"));
    }
}
