//! The manifests of an output: one for each program that writes at the same time.
//!
//! A writer appends to the first manifest (`.NAME.0.manifest`, `.NAME.1.manifest`, ...) that no other program has
//! locked; the system releases the lock when the program ends. So no two programs on any machines append to the same
//! file, which network file systems do not support well. Readers read all manifests.

use super::manifest::{Entry, HEAD, MAX_BYTES, Manifest, job_lines, join_lines, line};
use super::source_ids::{SourceIds, changed};
use super::{JobSettings, Wanted, checksum, xxh64};
use crate::disk::{folder_of, lines};
use crate::journal::JoinRecord;
use crate::journal::shard::Shard;
use grainfield_filters::host::lock;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The largest number of manifests of one output.
const MAX_MANIFESTS: u32 = 100_000;

/// The paths of the manifests of an output.
#[derive(Clone, Debug)]
pub struct ManifestNames {
    folder: PathBuf,
    /// The output's file name in the names of manifests.
    stem: String,
    /// The shard's name; its manifest is a visible file beside it, since both are copied together.
    shard: Option<OsString>,
    /// Whether it is for a folder of segments, which one program uses at a time.
    segments: bool,
}

impl ManifestNames {
    /// For an output: a file, or a pattern's name with a placeholder for the number. They are hidden files.
    pub fn for_output(output: &Path) -> ManifestNames {
        let folder = folder_of(output).to_path_buf();
        let name = output.file_name().unwrap_or_default();
        let mut stem = name.to_string_lossy().into_owned();
        // names have at most 255 bytes
        if stem.len() > 180 || name.to_str().is_none() {
            stem = format!("{:.60}-{:016x}", stem, xxh64(name.as_encoded_bytes()));
        }
        ManifestNames { folder, stem, shard: None, segments: false }
    }

    /// For a shard that is one file: `SHARD.shard`; `SHARD.1.shard` if two programs render the same one.
    pub fn for_shard(shard: &Path) -> ManifestNames {
        ManifestNames { shard: Some(shard.into()), ..ManifestNames::for_output(shard) }
    }

    /// The file of an output that is one file, or of a shard of it, and its manifests.
    pub fn for_part(output: PathBuf, shard: Option<Shard>) -> (PathBuf, ManifestNames) {
        let Some(shard) = shard else { return (output.clone(), ManifestNames::for_output(&output)) };
        let path = PathBuf::from(shard.named(output.as_os_str()));
        (path.clone(), ManifestNames::for_shard(&path))
    }

    /// For a folder of segments.
    pub fn for_segments(folder: &Path) -> ManifestNames {
        ManifestNames { segments: true, ..ManifestNames::for_output(&folder.join("segment")) }
    }

    /// The path of the manifest with this number.
    pub fn path(&self, number: u32) -> PathBuf {
        let Some(shard) = &self.shard else {
            return self.folder.join(format!(".{}.{number}.manifest", self.stem));
        };
        let mut name = shard.clone();
        name.push(if number == 0 { ".shard".into() } else { format!(".{number}.shard") });
        name.into()
    }

    /// The files that may be written: all existing ones, and the first that does not exist.
    pub fn files(&self) -> Vec<PathBuf> {
        let there = (0..MAX_MANIFESTS).take_while(|n| self.path(*n).exists()).count() as u32;
        (0..=there).map(|n| self.path(n)).collect()
    }

    /// Reads and merges all of them.
    ///
    /// # Errors
    /// `InvalidData` for a file that is not a manifest of this version, else those of the system.
    pub fn read(&self) -> io::Result<Manifest> {
        let mut manifest = Manifest::default();
        let mut left = MAX_BYTES;
        for path in (0..MAX_MANIFESTS).map(|n| self.path(n)) {
            let Some(bytes) = lines::read(&path, left)? else { break };
            check(&path, &bytes)?;
            left -= bytes.len() as u64;
            manifest.add(&bytes);
        }
        Ok(manifest)
    }
}

/// Records complete files. Shared by the threads of a job.
#[derive(Debug)]
pub struct ManifestFiles {
    names: ManifestNames,
    settings: JobSettings,
    source_ids: SourceIds,
    /// All frames of the render.
    frames: String,
    /// The manifest that this process has locked, as long as it is open.
    own: Mutex<Option<File>>,
}

impl ManifestFiles {
    /// Creates no files yet.
    pub fn new(
        names: ManifestNames,
        settings: JobSettings,
        source_ids: SourceIds,
        frames: String,
    ) -> ManifestFiles {
        ManifestFiles { names, settings, source_ids, frames, own: Mutex::default() }
    }

    /// The settings that are recorded.
    pub fn settings(&self) -> &JobSettings {
        &self.settings
    }

    /// The sources of the frames.
    pub fn source_ids(&self) -> &SourceIds {
        &self.source_ids
    }

    /// The expected settings and source of the file with a number.
    pub fn wanted(&self, number: i64) -> Wanted<'_> {
        let source_hash = Some(self.source_ids.get(number));
        Wanted { key: self.settings.key(), settings: self.settings.json(), source_hash }
    }

    /// Reads all manifests.
    ///
    /// # Errors
    /// `InvalidData` for a file that is not a manifest of this version, else those of the system.
    pub fn read(&self) -> io::Result<Manifest> {
        self.names.read()
    }

    /// Locks a manifest, if none is locked yet.
    ///
    /// # Errors
    /// `ResourceBusy` if another program uses the folder of segments, else as [`read`](ManifestFiles::read).
    pub fn acquire(&self) -> io::Result<()> {
        self.opened(&mut lock(&self.own)).map(drop)
    }

    /// The entry of a finished file, which has no final name yet and will not be changed any more. The number is that
    /// of its frame or segment.
    ///
    /// # Errors
    /// If the system does not tell the file's size.
    pub fn entry(&self, number: i64, frames: u64, file: &File, hash: u64) -> io::Result<Entry> {
        let meta = file.metadata()?;
        let source_hash = self.source_ids.get(number);
        Ok(Entry {
            number,
            frames,
            key: self.settings.key(),
            source_hash,
            size: meta.len(),
            time: changed(&meta),
            hash,
        })
    }

    /// Records a file that is about to get its name, and the data for joining it.
    ///
    /// # Errors
    /// As [`acquire`](ManifestFiles::acquire).
    pub fn record(&self, entry: &Entry, join: Option<&JoinRecord>) -> io::Result<()> {
        let mut own = lock(&self.own);
        let own = self.opened(&mut own)?;
        let text = join.map_or(String::new(), |join| join_lines(entry.id(), join)) + &entry.line();
        own.write_all(text.as_bytes())
    }

    /// Records a complete file, which is read from a temporary path, and syncs the record to the disk.
    ///
    /// # Errors
    /// If the file cannot be read or the manifest cannot be written.
    pub fn record_synced(
        &self,
        number: i64,
        file: &File,
        path: &Path,
        frames: u64,
        join: Option<&JoinRecord>,
    ) -> io::Result<()> {
        self.record(&self.entry(number, frames, file, checksum(path)?)?, join)?;
        self.sync()
    }

    fn opened<'a>(&self, own: &'a mut Option<File>) -> io::Result<&'a mut File> {
        let file = own.take().map_or_else(|| self.take(), Ok)?;
        Ok(own.insert(file))
    }

    /// Locks the first manifest that is free.
    fn take(&self) -> io::Result<File> {
        for number in 0..MAX_MANIFESTS {
            let path = self.names.path(number);
            let mut file = lines::open(&path, OpenOptions::new().read(true).append(true).create(true))?;
            let there = file.metadata()?.len() > 0;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if self.names.segments => {
                    let problem = "another process is rendering into it";
                    return Err(io::Error::new(ErrorKind::ResourceBusy, problem));
                }
                Err(TryLockError::WouldBlock) => continue,
                // without support for locks, only a new file is safe to use; the user must not start two programs that
                // render the same segments
                Err(TryLockError::Error(_)) if there && !self.names.segments => continue,
                Err(TryLockError::Error(_)) => {}
            }
            let mut head = Vec::new();
            Read::by_ref(&mut file).take(line(HEAD).len() as u64).read_to_end(&mut head)?;
            check(&path, &head)?;
            let mut start = String::new();
            if head.len() < line(HEAD).len() {
                // a crash has cut off the first line
                file.set_len(0)?;
                start = line(HEAD);
            }
            start += &job_lines(self.settings.key(), self.settings.json(), &self.frames);
            lines::append(&mut file, start.as_bytes())?;
            return Ok(file);
        }
        Err(io::Error::other(format!("there are {MAX_MANIFESTS} manifests of {}", self.names.stem)))
    }

    /// Closes the file of the records: a system may keep the name of a removed file until then.
    pub fn close(&self) {
        *lock(&self.own) = None;
    }

    /// Syncs the records to the disk.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync(&self) -> io::Result<()> {
        lock(&self.own).as_ref().map_or(Ok(()), File::sync_data)
    }
}

/// Returns an error for a file that does not begin like a manifest of this version, since it belongs to
/// someone else.
fn check(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let head = line(HEAD);
    // a crash may have cut off the first line
    if bytes.starts_with(head.as_bytes()) || head.as_bytes().starts_with(bytes) {
        return Ok(());
    }
    let path = path.display();
    let former: [&[u8]; 2] = [b"grainfield manifest ", b"{\"grainfield_shard\":"];
    let problem = match former.iter().any(|begins| bytes.starts_with(begins)) {
        true => format!(
            "{path} was written by another version of grainfield: finish the render with that version, or remove this file \
             and render again, overwriting the output"
        ),
        false => format!("{path} exists and is not a manifest: rename it"),
    };
    Err(io::Error::new(ErrorKind::InvalidData, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest_files(folder: &Path, seed: &str) -> ManifestFiles {
        let settings = JobSettings::new([("seed", seed.to_owned())].into());
        let names = ManifestNames::for_output(&folder.join("out.%04d.png"));
        ManifestFiles::new(names, settings, SourceIds::One(5), "1-3".into())
    }

    fn write(manifest_files: &ManifestFiles, folder: &Path, number: i64) -> Entry {
        let path = folder.join(format!("out.{number:04}.png"));
        std::fs::write(&path, b"abc").unwrap();
        let entry = manifest_files.entry(number, 1, &File::open(path).unwrap(), xxh64(b"abc")).unwrap();
        manifest_files.record(&entry, None).unwrap();
        entry
    }

    #[test]
    fn writers_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (manifest_files(folder.path(), "1"), manifest_files(folder.path(), "1"));
        let first = write(&a, folder.path(), 1);
        let second = write(&b, folder.path(), 2);
        assert!(folder.path().join(".out.%04d.png.1.manifest").exists());
        drop((a, b));
        let c = manifest_files(folder.path(), "2");
        let third = write(&c, folder.path(), 3);
        assert!(!folder.path().join(".out.%04d.png.2.manifest").exists());
        let read = c.read().unwrap();
        let entries: Vec<Entry> = read.entries.values().flatten().copied().collect();
        assert_eq!((entries, read.torn, read.settings.len()), (vec![first, second, third], 0, 2));
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let manifest_files = manifest_files(folder.path(), "1");
        let elsewhere = folder.path().join("elsewhere");
        std::fs::write(&elsewhere, b"mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, manifest_files.names.path(0)).unwrap();
        assert!(manifest_files.acquire().is_err() && manifest_files.read().is_err());
        assert_eq!(std::fs::read(elsewhere).unwrap(), b"mine");
    }

    #[test]
    fn a_torn_head_is_written_again() {
        for cut in 0..=line(HEAD).len() {
            let folder = tempfile::tempdir().unwrap();
            let manifest_files = manifest_files(folder.path(), "1");
            std::fs::write(manifest_files.names.path(0), &line(HEAD)[..cut]).unwrap();
            let entry = write(&manifest_files, folder.path(), 1);
            let read = manifest_files.read().unwrap();
            assert_eq!((read.entries[&1].clone(), read.torn), (vec![entry], 0), "{cut}");
        }
    }

    #[test]
    fn other_versions_are_refused() {
        for text in
            [&line("grainfield manifest 2"), "{\"grainfield_shard\":1,\"index\":1}", "grainfield manifest 12"]
        {
            let folder = tempfile::tempdir().unwrap();
            let manifest_files = manifest_files(folder.path(), "1");
            std::fs::write(manifest_files.names.path(0), text).unwrap();
            for error in [manifest_files.read().map(drop), manifest_files.acquire().map(drop)] {
                assert!(error.unwrap_err().to_string().contains("another version"), "{text}");
            }
            assert_eq!(std::fs::read(manifest_files.names.path(0)).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn one_program_works_in_a_folder_of_segments() {
        let folder = tempfile::tempdir().unwrap();
        let names = ManifestNames::for_segments(folder.path());
        let settings = JobSettings::new([("seed", "1".to_owned())].into());
        let new = || ManifestFiles::new(names.clone(), settings.clone(), SourceIds::One(5), "1-3".into());
        let (a, b) = (new(), new());
        a.acquire().unwrap();
        assert_eq!(b.acquire().unwrap_err().kind(), ErrorKind::ResourceBusy);
        drop(a);
        b.acquire().unwrap();
        assert_eq!(names.files(), [names.path(0), names.path(1)]);
    }

    #[test]
    fn the_manifest_of_a_shard_is_beside_it() {
        let names = ManifestNames::for_shard(Path::new("o/a.1-of-2.mkv"));
        assert_eq!(
            [names.path(0), names.path(1)],
            ["o/a.1-of-2.mkv.shard", "o/a.1-of-2.mkv.1.shard"].map(PathBuf::from)
        );
    }
}
