//! The manifests beside an output: one for each program that writes at the same time.
//!
//! A writer appends to the first manifest (`.NAME.0.manifest`, `.NAME.1.manifest`, ...) that nobody else holds; a lock
//! of the system says who holds it, and is gone with its program however that ended. So no two programs, on however
//! many machines, ever append to one file, which no network file system does well; a reader reads them all. What is
//! written but not yet named bears its manifest's number in its temporary name: whoever takes the manifest over knows
//! that nobody else will finish those files, and removes them.

use super::manifest::{Entry, HEAD, MAX_BYTES, Manifest, asked, line, made};
use super::source_ids::{SourceIds, changed};
use super::{JobSettings, xxh64};
use crate::disk::TEMPORARY;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most manifests of one output.
const MAX_MANIFESTS: u32 = 100_000;

/// Records what is whole. Shared by the threads of a job.
#[derive(Debug)]
pub struct ManifestFiles {
    folder: PathBuf,
    /// The output's file name as the names of manifests and temporary files have it.
    stem: String,
    made: JobSettings,
    source_ids: SourceIds,
    /// All frames of the render.
    frames: String,
    own: Mutex<Option<OwnManifest>>,
}

/// The manifest that is ours.
#[derive(Debug)]
struct OwnManifest {
    /// Locked as long as it is open.
    file: File,
    number: u32,
}

impl ManifestFiles {
    /// For an output: a file, or a pattern's name with anything in the number's place. Nothing is touched yet.
    pub fn new(output: &Path, made: JobSettings, source_ids: SourceIds, frames: String) -> ManifestFiles {
        let (folder, stem) = place(output);
        ManifestFiles { folder, stem, made, source_ids, frames, own: Mutex::default() }
    }

    /// The settings that are recorded.
    pub fn made(&self) -> &JobSettings {
        &self.made
    }

    /// Where frames come from.
    pub fn source_ids(&self) -> &SourceIds {
        &self.source_ids
    }

    fn path(&self, number: u32) -> PathBuf {
        named(&self.folder, &self.stem, number)
    }

    /// All that the manifests say.
    pub fn read(&self) -> io::Result<Manifest> {
        let mut manifest = Manifest::default();
        let mut total = 0;
        for number in 0..MAX_MANIFESTS {
            let mut bytes = Vec::new();
            match open_plain(&self.path(number), OpenOptions::new().read(true)) {
                Err(e) if e.kind() == ErrorKind::NotFound => break,
                Err(e) => return Err(e),
                Ok(file) => file.take(MAX_BYTES - total + 1).read_to_end(&mut bytes)?,
            };
            check(&self.path(number), &bytes)?;
            total += bytes.len() as u64;
            if total > MAX_BYTES {
                let problem =
                    format!("the manifests {} have more than {MAX_BYTES} bytes", self.path(0).display());
                return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
            }
            manifest.add(&bytes);
        }
        Ok(manifest)
    }

    fn own(&self) -> MutexGuard<'_, Option<OwnManifest>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the names of temporary files begin with, so that they can be told to be nobody's after a crash. Takes a
    /// manifest, if there is none yet.
    pub fn prefix(&self) -> io::Result<String> {
        let mut own = self.own();
        let own = self.opened(&mut own)?;
        Ok(format!(".{}.{}-", self.stem, own.number))
    }

    /// What a finished file will be known by. The number is its frame's; the file bears a temporary name and will not
    /// be written any more.
    pub fn entry(&self, number: i64, file: &File, hash: u64) -> io::Result<Entry> {
        let meta = file.metadata()?;
        let origin = self.source_ids.get(number);
        Ok(Entry { number, key: self.made.key(), origin, size: meta.len(), time: changed(&meta), hash })
    }

    /// Records a file that is about to get its name.
    pub fn record(&self, entry: &Entry) -> io::Result<()> {
        let mut own = self.own();
        let own = self.opened(&mut own)?;
        own.file.write_all(entry.line().as_bytes())
    }

    fn opened<'a>(&self, own: &'a mut Option<OwnManifest>) -> io::Result<&'a mut OwnManifest> {
        if own.is_none() {
            *own = Some(self.take()?);
        }
        own.as_mut().ok_or_else(|| ErrorKind::Other.into())
    }

    /// Takes the first manifest that nobody holds.
    fn take(&self) -> io::Result<OwnManifest> {
        for number in 0..MAX_MANIFESTS {
            let path = self.path(number);
            let mut options = OpenOptions::new();
            options.read(true).append(true);
            let mut file = match open_plain(&path, &options) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    match options.create_new(true).open(&path) {
                        Ok(file) => file,
                        // another one was faster
                        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                            open_plain(&path, options.create_new(false))?
                        }
                        Err(e) => return Err(e),
                    }
                }
                Err(e) => return Err(e),
            };
            let len = file.metadata()?.len();
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                // no locks here: then only a fresh file is surely ours
                Err(TryLockError::Error(_)) if len > 0 => continue,
                Err(TryLockError::Error(_)) => {}
            }
            let mut head = Vec::new();
            Read::by_ref(&mut file).take(HEAD.len() as u64).read_to_end(&mut head)?;
            check(&path, &head)?;
            let mut start = line(HEAD);
            if len > 0 {
                start = String::new();
                // a line that was torn ends here
                file.seek(SeekFrom::End(-1))?;
                let mut last = [0];
                file.read_exact(&mut last)?;
                if last != *b"\n" {
                    start.push('\n');
                }
                self.clean(number);
            }
            start += &made(self.made.key(), self.made.json());
            start += &asked(self.made.key(), &self.frames);
            file.write_all(start.as_bytes())?;
            return Ok(OwnManifest { file, number });
        }
        Err(io::Error::other(format!("there are {MAX_MANIFESTS} manifests of {}", self.stem)))
    }

    /// Removes what programs that are no more have left unfinished, and takes a manifest.
    pub fn tidy(&self) -> io::Result<()> {
        let own = match &*self.opened_lock()? {
            Some(own) => own.number,
            None => return Ok(()),
        };
        for number in (0..MAX_MANIFESTS).filter(|n| *n != own) {
            match open_plain(&self.path(number), OpenOptions::new().read(true)) {
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
                Err(e) => return Err(e),
                // gives it back at the end of this arm
                Ok(file) => {
                    if file.try_lock().is_ok() {
                        self.clean(number);
                    }
                }
            }
        }
        Ok(())
    }

    fn opened_lock(&self) -> io::Result<MutexGuard<'_, Option<OwnManifest>>> {
        let mut own = self.own();
        self.opened(&mut own)?;
        Ok(own)
    }

    /// Removes the temporary files of a manifest that nobody else holds.
    fn clean(&self, number: u32) {
        let prefix = format!(".{}.{number}-", self.stem);
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            if name.starts_with(prefix.as_bytes()) && name.ends_with(TEMPORARY.as_bytes()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Makes sure that the disk has what was recorded.
    pub fn sync(&self) -> io::Result<()> {
        match &*self.own() {
            Some(own) => own.file.sync_data(),
            None => Ok(()),
        }
    }
}

/// The folder of an output's manifests, and what their names hold of it.
fn place(output: &Path) -> (PathBuf, String) {
    let folder = match output.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let name = output.file_name().unwrap_or_default();
    let mut stem = name.to_string_lossy().into_owned();
    // names have at most 255 bytes
    if stem.len() > 180 || name.to_str().is_none() {
        stem = format!("{:.60}-{:016x}", stem, xxh64(name.as_encoded_bytes()));
    }
    (folder, stem)
}

fn named(folder: &Path, stem: &str, number: u32) -> PathBuf {
    folder.join(format!(".{stem}.{number}.manifest"))
}

/// The manifests of an output that may be written: those that are there, and the first that is not.
pub fn manifests(output: &Path) -> Vec<PathBuf> {
    let (folder, stem) = place(output);
    let there = (0..MAX_MANIFESTS).take_while(|n| named(&folder, &stem, *n).exists()).count() as u32;
    (0..=there).map(|n| named(&folder, &stem, n)).collect()
}

/// Refuses a file that begins as no manifest does: somebody else's.
fn check(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // a crash may have torn the first line
    if bytes.starts_with(HEAD.as_bytes()) || HEAD.as_bytes().starts_with(bytes) {
        return Ok(());
    }
    let problem = format!("{} exists and is not a manifest: rename it", path.display());
    Err(io::Error::new(ErrorKind::InvalidData, problem))
}

/// Opens a file that is no link: whoever may write to the folder could else lead us elsewhere.
fn open_plain(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{} is a link", path.display())));
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest_files(folder: &Path, seed: &str) -> ManifestFiles {
        let made = JobSettings::new([("seed", seed.to_owned())].into());
        ManifestFiles::new(&folder.join("out.%04d.png"), made, SourceIds::One(5), "1-3".into())
    }

    fn write(manifest_files: &ManifestFiles, folder: &Path, number: i64) -> Entry {
        let path = folder.join(format!("out.{number:04}.png"));
        std::fs::write(&path, b"abc").unwrap();
        let entry = manifest_files.entry(number, &File::open(path).unwrap(), xxh64(b"abc")).unwrap();
        manifest_files.record(&entry).unwrap();
        entry
    }

    #[test]
    fn writers_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (manifest_files(folder.path(), "1"), manifest_files(folder.path(), "1"));
        let first = write(&a, folder.path(), 1);
        let second = write(&b, folder.path(), 2);
        assert_ne!(a.prefix().unwrap(), b.prefix().unwrap());
        assert!(folder.path().join(".out.%04d.png.1.manifest").exists());
        drop((a, b));
        let c = manifest_files(folder.path(), "2");
        let third = write(&c, folder.path(), 3);
        assert!(!folder.path().join(".out.%04d.png.2.manifest").exists());
        let read = c.read().unwrap();
        let entries: Vec<Entry> = read.entries.values().flatten().copied().collect();
        assert_eq!((entries, read.torn, read.made.len()), (vec![first, second, third], 0, 2));
    }

    #[test]
    fn what_the_dead_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::write(folder.path().join(name), b"").unwrap();
        let (a, b) = (manifest_files(folder.path(), "1"), manifest_files(folder.path(), "1"));
        let names = [a.prefix().unwrap(), b.prefix().unwrap()].map(|p| p + "x.tmp");
        names.iter().for_each(|name| make(name));
        make(".out.%04d.png.7-x.tmp");
        let there = |i: usize| folder.path().join(&names[i]).exists();
        drop(a);
        let c = manifest_files(folder.path(), "1");
        c.tidy().unwrap();
        assert_eq!((there(0), there(1)), (false, true));
        drop(b);
        c.tidy().unwrap();
        assert!(!there(1) && folder.path().join(".out.%04d.png.7-x.tmp").exists());
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let manifest_files = manifest_files(folder.path(), "1");
        let elsewhere = folder.path().join("elsewhere");
        std::fs::write(&elsewhere, b"mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, manifest_files.path(0)).unwrap();
        assert!(manifest_files.prefix().is_err() && manifest_files.read().is_err());
        assert_eq!(std::fs::read(elsewhere).unwrap(), b"mine");
    }
}
