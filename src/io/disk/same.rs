//! Checks that a job does not write a file that it reads, under whatever names.
//!
//! Files are compared by device and inode, which resolves links of both kinds, `..`, other mounts of a disk,
//! `/dev/fd/N`, and standard input, output and error. A file that does not exist yet is identified by its folder and
//! name. Devices, pipes, sockets and folders are never the same file.

use super::reach;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A place that is read or written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileRef {
    /// A path.
    Path(PathBuf),
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

impl FileRef {
    /// The identity of the file, independent of its name.
    pub fn identity(&self) -> Option<Identity> {
        let descriptor = match self {
            FileRef::Path(path) => match path.metadata() {
                Ok(meta) => return Identity::from_metadata(&meta),
                Err(_) => return Identity::of_missing(path),
            },
            FileRef::Input => std::io::stdin().as_fd().try_clone_to_owned(),
            FileRef::Output => std::io::stdout().as_fd().try_clone_to_owned(),
            FileRef::Errors => std::io::stderr().as_fd().try_clone_to_owned(),
        };
        let meta = descriptor.map(File::from).and_then(|file| file.metadata());
        meta.ok().as_ref().and_then(Identity::from_metadata)
    }
}

impl std::fmt::Display for FileRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileRef::Path(path) => path.display().fmt(f),
            FileRef::Input => f.write_str("standard input"),
            FileRef::Output => f.write_str("standard output"),
            FileRef::Errors => f.write_str("standard error"),
        }
    }
}

/// The identity of a file, independent of its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Identity {
    /// An existing file: its device and inode.
    File(u64, u64),
    /// A file that does not exist yet: its folder with links resolved, and its name.
    New(PathBuf, OsString),
}

impl Identity {
    /// `None` if it is not an ordinary file.
    pub fn from_metadata(meta: &Metadata) -> Option<Identity> {
        meta.is_file().then(|| Identity::File(meta.dev(), meta.ino()))
    }

    fn of_missing(path: &Path) -> Option<Identity> {
        Some(Identity::New(parent(path)?, path.file_name()?.to_owned()))
    }
}

/// The folder of a file, with links resolved.
fn parent(path: &Path) -> Option<PathBuf> {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).canonicalize().ok()
}

/// A file and its role in a job.
#[derive(Clone, Debug)]
struct FileUse {
    /// The role in messages: `the input`, `the image of sprites`.
    role: String,
    place: FileRef,
}

/// Whether standard error is a file that a job reads.
static MUTE: AtomicBool = AtomicBool::new(false);

/// Whether nothing may be written to standard error, because it is a file that a job of this process was to
/// read.
pub fn is_mute() -> bool {
    MUTE.load(Ordering::SeqCst)
}

/// The files that a job reads and may write.
#[derive(Clone, Debug, Default)]
pub struct FileAccess {
    reads: Vec<FileUse>,
    writes: Vec<FileUse>,
    /// Files that libraries write, which replace existing ones.
    external_writes: Vec<FileUse>,
    /// Files beside an output, which other jobs must not read either.
    beside: Vec<FileUse>,
    /// Folders whose contents belong to the job.
    folders: Vec<FileUse>,
}

/// The files that several jobs write.
#[derive(Clone, Debug, Default)]
pub struct WrittenFiles(BTreeMap<Identity, FileUse>);

impl WrittenFiles {
    /// Adds the files that a job leaves beside its output, which none of the jobs may read, in any order.
    pub fn add_beside(&mut self, access: &FileAccess) {
        for one in &access.beside {
            if let Some(identity) = one.place.identity() {
                self.0.entry(identity).or_insert_with(|| one.clone());
            }
        }
    }
}

/// An error because a file would be both read and written, or written twice.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SameFile {
    /// The file is read and written.
    #[error("{written} and {read}{} are the same file: choose another name", also(.place.as_ref()))]
    Read {
        /// The role and name of the written file.
        written: String,
        /// The role of the file that is read.
        read: String,
        /// Its path, if it has another name.
        place: Option<String>,
    },
    /// The file is written in two roles.
    #[error("{0} and {1} are the same file: choose another name")]
    Twice(String, String),
    /// The file exists, and `-y` was not given.
    #[error(
        "{0} exists and would be replaced: choose another name, delete it, or use -y where the command has it"
    )]
    Exists(String),
    /// The file is in a folder that a job deletes at its end.
    #[error(
        "{folder} contains {read} ({place}), but Grainfield removes files from it: move that file to another \
        folder"
    )]
    Folder {
        /// The folder.
        folder: String,
        /// The role of the file that is read.
        read: String,
        /// Its path.
        place: String,
    },
}

fn also(place: Option<&String>) -> String {
    place.map_or(String::new(), |place| format!(" ({place})"))
}

fn named(u: &FileUse) -> String {
    match &u.place {
        FileRef::Path(path) => format!("{} {}", u.role, path.display()),
        place => format!("{} ({place})", u.role),
    }
}

impl FileAccess {
    /// Adds a file that the job reads. `role` is used in messages: `the input`.
    pub fn read(&mut self, role: impl Into<String>, place: FileRef) {
        self.reads.push(FileUse { role: role.into(), place });
    }

    /// Adds a file that the job may write. `role` is used in messages: `the output`.
    pub fn write(&mut self, role: impl Into<String>, place: FileRef) {
        self.writes.push(FileUse { role: role.into(), place });
    }

    /// The same for a file that a library writes, which replaces an existing one and therefore requires `-y`.
    pub fn write_external(&mut self, role: impl Into<String>, path: PathBuf) {
        let one = FileUse { role: role.into(), place: FileRef::Path(path) };
        self.external_writes.push(one.clone());
        self.writes.push(one);
    }

    /// Returns an error for a file that exists and that a library would replace.
    pub fn check_external_writes(&self) -> Result<(), SameFile> {
        match self.external_writes.iter().find(|u| matches!(u.place.identity(), Some(Identity::File(..)))) {
            Some(there) => Err(SameFile::Exists(named(there))),
            None => Ok(()),
        }
    }

    /// Adds a folder in which the job creates and removes files.
    pub fn own_folder(&mut self, role: impl Into<String>, folder: PathBuf) {
        self.folders.push(FileUse { role: role.into(), place: FileRef::Path(folder) });
    }

    /// Adds a file beside an output, which no job may read.
    pub fn write_beside(&mut self, role: impl Into<String>, path: PathBuf) {
        let one = FileUse { role: role.into(), place: FileRef::Path(path) };
        self.beside.push(one.clone());
        self.writes.push(one);
    }

    /// Adds the name of a job to the roles, for several jobs.
    pub fn in_job(mut self, job: &str) -> FileAccess {
        let FileAccess { reads, writes, external_writes, beside, folders } = &mut self;
        for one in [reads, writes, external_writes, beside, folders].into_iter().flatten() {
            one.role = format!("{} of {job}", one.role);
        }
        self
    }

    /// The files that are read.
    pub fn reads(&self) -> impl Iterator<Item = &FileRef> {
        self.reads.iter().map(|r| &r.place)
    }

    /// The files that may be written.
    pub fn written(self) -> impl Iterator<Item = FileRef> {
        self.writes.into_iter().map(|w| w.place)
    }

    /// Adds the files of another job.
    pub fn extend(&mut self, other: FileAccess) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.external_writes.extend(other.external_writes);
        self.beside.extend(other.beside);
        self.folders.extend(other.folders);
    }

    /// Returns an error if standard error is a file that is read, in which case no message can be printed.
    pub fn check_errors(&self) -> Result<(), SameFile> {
        let Some(errors) = FileRef::Errors.identity() else { return Ok(()) };
        match self.reads.iter().find(|r| r.place.identity().as_ref() == Some(&errors)) {
            None => Ok(()),
            Some(read) => {
                MUTE.store(true, Ordering::SeqCst);
                let (written, place) = (FileRef::Errors.to_string(), Some(read.place.to_string()));
                Err(SameFile::Read { written, read: read.role.clone(), place })
            }
        }
    }

    /// Returns an error if a file is read and written, or written in two roles. Creates no files.
    pub fn check(&self) -> Result<(), SameFile> {
        self.check_before(&mut WrittenFiles::default())
    }

    /// The same for one of several jobs, called for the last one first: no job may write a file that it or an earlier
    /// one reads, or that another one writes. `later` contains the files that later jobs write; those of this job are
    /// added.
    pub fn check_before(&self, later: &mut WrittenFiles) -> Result<(), SameFile> {
        self.check_errors()?;
        let written = &mut later.0;
        for w in &self.writes {
            if let Some(identity) = w.place.identity()
                && let Some(other) = written.insert(identity, w.clone())
                && other.role != w.role
            {
                return Err(SameFile::Twice(named(w), named(&other)));
            }
        }
        // most outputs do not exist yet, and then cannot be a file that is read
        if !written.keys().any(|i| matches!(i, Identity::File(..))) && self.folders.is_empty() {
            return Ok(());
        }
        let real = |place: &FileRef| match place {
            FileRef::Path(path) => path.canonicalize().ok(),
            _ => None,
        };
        let folders: Vec<(PathBuf, &FileUse)> =
            self.folders.iter().filter_map(|f| Some((real(&f.place)?, f))).collect();
        for r in &self.reads {
            let Some(identity @ Identity::File(..)) = r.place.identity() else { continue };
            if let Some(w) = written.get(&identity) {
                let place = (w.place != r.place).then(|| r.place.to_string());
                return Err(SameFile::Read { written: named(w), read: r.role.clone(), place });
            }
            if folders.is_empty() {
                continue;
            }
            let FileRef::Path(path) = &r.place else { continue };
            // the file, or a link to it, is in the folder
            let lies = [path.canonicalize().ok().and_then(|p| Some(p.parent()?.to_path_buf())), parent(path)];
            let inside = folders.iter().find(|(f, _)| lies.iter().flatten().any(|p| p == f));
            if let Some((_, folder)) = inside {
                let (folder, place) = (named(folder), r.place.to_string());
                return Err(SameFile::Folder { folder, read: r.role.clone(), place });
            }
        }
        Ok(())
    }
}

/// Takes the text before one of `ends` from the front of `text`, with FFmpeg's quoting: `'...'` verbatim, `\\`
/// before a character, surrounding spaces removed.
pub fn token(text: &mut &str, ends: &str) -> String {
    let blank = |c: char| " \n\t\r".contains(c);
    let mut signs = text.trim_start_matches(blank).chars();
    let (mut token, mut quoted) = (String::new(), 0);
    while let Some(sign) = signs.clone().next().filter(|c| !ends.contains(*c)) {
        signs.next();
        match sign {
            '\\' => token.extend(signs.next()),
            '\'' => token.extend(signs.by_ref().take_while(|c| *c != '\'')),
            sign => {
                token.push(sign);
                continue;
            }
        }
        quoted = token.len();
    }
    *text = signs.as_str();
    token.truncate(token.trim_end_matches(blank).len().max(quoted));
    token
}

/// The existing files that are named in the text of an input or option which is not a plain path: after `file:` and
/// other protocols, in `concat:a|b`, in `movie=a.mkv`.
pub fn inside(text: &OsStr) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut add = |piece: &[u8]| {
        let path = Path::new(OsStr::from_bytes(piece));
        if !piece.is_empty() && path.is_file() && !found.iter().any(|f| f == path) {
            found.push(path.to_path_buf());
        }
    };
    let cuts = |b: &u8| b":|=,;[]'\"\\".contains(b);
    bytes.split(cuts).for_each(&mut add);
    // a name may contain such a character
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|b| b":=|".contains(b)) {
        at += next + 1;
        let end = bytes[at..].iter().position(|&b| b == b'|').map_or(bytes.len(), |n| at + n);
        add(&bytes[at..end]);
    }
    // `pipe:3`, and `pipe:` for standard input
    for scheme in [&b"pipe:"[..], b"fd:"] {
        for at in (0..bytes.len()).filter(|&at| bytes[at..].starts_with(scheme)) {
            let number = bytes[at + scheme.len()..].trim_ascii_start();
            let number = number.strip_prefix(b"+").unwrap_or(number);
            let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
            let number = if digits == 0 { b"0" } else { &number[..digits] };
            add(&[b"/dev/fd/", number].concat());
        }
    }
    // a list of names, one per line
    if let (true, Some(list)) = (bytes.starts_with(b"concatf:"), found.first().cloned()) {
        let text = reach::open(&list).and_then(|f| {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut std::io::Read::take(f, PLAYLIST), &mut text).map(|_| text)
        });
        let named = |line: &[u8]| inside(OsStr::from_bytes(line.trim_ascii()));
        found.extend(text.unwrap_or_default().split(|b| *b == b'\n').flat_map(named));
    }
    found
}

/// The limits on the size of a playlist in bytes, and on the number of playlists.
const PLAYLIST: u64 = 16 << 20;
const PLAYLISTS: usize = 64;

/// The files named in a playlist (HLS, or a list for FFmpeg's concat) and in playlists within it. Empty for other
/// files.
pub fn listed(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut lists = vec![path.to_path_buf()];
    let mut seen = 0;
    while let Some(list) = lists.pop().filter(|_| seen < PLAYLISTS) {
        let Some(text) = playlist(&list) else { continue };
        seen += 1;
        let names: Vec<String> = text.lines().flat_map(names).collect();
        let folder = list.parent().unwrap_or(Path::new(""));
        // names may be relative to a folder that is named, too
        let mut folders = vec![folder.to_path_buf()];
        folders.extend(names.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()));
        folders.dedup();
        for file in folders.iter().flat_map(|folder| names.iter().flat_map(|name| named_by(folder, name))) {
            if file.is_file() && !found.contains(&file) {
                found.push(file.clone());
                lists.push(file);
            }
        }
    }
    found
}

/// The files that a name in a playlist matches: in MPEG-DASH, `$Number%05d$` and similar patterns match any
/// text.
fn named_by(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_path_buf()];
    for part in Path::new(name).components() {
        let part = part.as_os_str();
        let pieces: Vec<&str> = part.to_str().unwrap_or_default().split('$').step_by(2).collect();
        if pieces.len() < 2 {
            paths.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let entries = paths.iter().flat_map(|path| std::fs::read_dir(path).into_iter().flatten().flatten());
        let fits = entries.filter(|e| e.file_name().to_str().is_some_and(|name| fits(name, &pieces)));
        paths = fits.map(|entry| entry.path()).collect();
    }
    paths
}

/// Whether a name consists of these pieces with any text between them.
fn fits(name: &str, pieces: &[&str]) -> bool {
    let [first, middle @ .., last] = pieces else { return pieces.first() == Some(&name) };
    let inner = name.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    let Some(mut rest) = inner else { return false };
    middle.iter().all(|piece| match rest.split_once(piece) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

fn playlist(path: &Path) -> Option<String> {
    use std::io::Read;
    // opening a pipe would wait for its writer
    let mut file = Some(path).filter(|p| p.is_file()).and_then(|p| reach::open(p).ok())?;
    let mut head = [0; 8];
    file.read_exact(&mut head).ok()?;
    if !head.starts_with(b"#EXTM3U")
        && &head != b"ffconcat"
        && !head.starts_with(b"<?xml")
        && !head.starts_with(b"<MPD")
    {
        return None;
    }
    let mut rest = Vec::new();
    file.take(PLAYLIST).read_to_end(&mut rest).ok()?;
    Some(String::from_utf8_lossy(&rest).into_owned())
}

/// The names that a line of a playlist may contain.
fn names(line: &str) -> Vec<String> {
    let line = line.trim();
    let plain = match line.strip_prefix("file") {
        Some(mut rest) if rest.starts_with([' ', '\t']) => token(&mut rest, " \n\t\r"),
        _ => line.to_owned(),
    };
    let mut names = vec![plain.strip_prefix("file:").unwrap_or(&plain).to_owned()];
    // attributes in HLS, and all text in MPEG-DASH
    names.extend(line.split(['"', '\'', '<', '>']).skip(1).map(|piece| piece.trim().to_owned()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_itself_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a"), "x").unwrap();
        std::fs::write(at("b"), "x").unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        std::os::unix::fs::symlink(dir.path(), at("d")).unwrap();
        std::os::unix::fs::symlink("d/a", at("soft")).unwrap();
        let of = |name: &str| FileRef::Path(at(name)).identity();
        for name in ["hard", "soft", "d/a", "d/./hard"] {
            assert_eq!(of(name), of("a"), "{name}");
        }
        assert!(of("a") != of("b") && of("new") == of("d/new") && of("new") != of("d/newer"));
        assert_eq!(of("none/new"), None);
        for device in ["/dev/null", "/dev/zero", "/"] {
            assert_eq!(FileRef::Path(device.into()).identity(), None, "{device}");
        }
        let check = |read: &str, written: &[&str]| {
            let mut access = FileAccess::default();
            access.read("the input", FileRef::Path(at(read)));
            written.iter().enumerate().for_each(|(i, w)| access.write(i.to_string(), FileRef::Path(at(w))));
            access.check()
        };
        assert_eq!(check("a", &["b", "new"]), Ok(()));
        assert_eq!(check("new", &["new"]), Ok(()));
        assert!(matches!(check("a", &["new", "soft"]), Err(SameFile::Read { .. })));
        assert!(matches!(check("b", &["new", "d/new"]), Err(SameFile::Twice(..))));
        let mut access = FileAccess::default();
        access.read("the input", FileRef::Path(at("soft")));
        access.own_folder("the folder", at("d"));
        assert!(matches!(access.check(), Err(SameFile::Folder { .. })));
    }

    #[test]
    fn names_inside_text_and_lists() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a.ts", "b.ts", "c:d.ts"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let root = dir.path().display();
        for (text, want) in [
            (format!("file:{root}/a.ts"), vec!["a.ts"]),
            (format!("concat:{root}/a.ts|{root}/b.ts"), vec!["a.ts", "b.ts"]),
            (format!("subfile,,start,0,end,9,,:{root}/c:d.ts"), vec!["c:d.ts"]),
            (format!("movie={root}/b.ts[logo];[in][logo]overlay"), vec!["b.ts"]),
            ("scale=2:2".to_owned(), vec![]),
        ] {
            let want: Vec<PathBuf> = want.into_iter().map(at).collect();
            assert_eq!(inside(OsStr::new(&text)), want, "{text}");
        }
        std::fs::write(at("top.m3u8"), "#EXTM3U\n#EXT-X-MAP:URI=\"b.ts\"\nlow.m3u8\nhttp://x/y.ts\n")
            .unwrap();
        std::fs::write(at("low.m3u8"), "#EXTM3U\n#EXTINF:1,\na.ts\ntop.m3u8\n").unwrap();
        std::fs::write(at("list"), "ffconcat version 1.0\nfile 'a.ts'\nfile c:d.ts\n").unwrap();
        let mut all = listed(&at("top.m3u8"));
        all.sort();
        assert_eq!(all, ["a.ts", "b.ts", "low.m3u8", "top.m3u8"].map(at));
        assert_eq!(listed(&at("list")), [at("a.ts"), at("c:d.ts")]);
        for line in ["file a.ts # mine", "file\ta.ts", "file 'a'.ts", "file a.\\ts", "  file 'a.ts'  "] {
            std::fs::write(at("list"), format!("ffconcat version 1.0\n{line}\n")).unwrap();
            assert_eq!(listed(&at("list")), [at("a.ts")], "{line}");
        }
        std::fs::write(at("x.mpd"), "<?xml?>\n<MPD><BaseURL>a.ts</BaseURL><S media=\"b.ts\"/></MPD>")
            .unwrap();
        assert_eq!(listed(&at("x.mpd")), [at("a.ts"), at("b.ts")]);
        let stream = at("v/stream0");
        std::fs::create_dir_all(&stream).unwrap();
        for name in ["init.m4s", "chunk-00001.m4s", "chunk-00002.m4s", "other.m4s"] {
            std::fs::write(stream.join(name), "x").unwrap();
        }
        std::fs::write(
            at("t.mpd"),
            "<?xml?>\n<MPD><BaseURL>v/</BaseURL><SegmentTemplate initialization=\"stream$RepresentationID$/init.m4s\" \
             media=\"stream$RepresentationID$/chunk-$Number%05d$.m4s\"/></MPD>",
        )
        .unwrap();
        let mut all = listed(&at("t.mpd"));
        all.sort();
        assert_eq!(all, ["chunk-00001.m4s", "chunk-00002.m4s", "init.m4s"].map(|n| stream.join(n)));
        std::fs::write(at("f"), format!("{root}/a.ts\n{root}/b.ts\n")).unwrap();
        assert_eq!(inside(OsStr::new(&format!("concatf:{root}/f"))), ["f", "a.ts", "b.ts"].map(at));
        assert_eq!(listed(&at("a.ts")), [""; 0].map(at));
    }
}
