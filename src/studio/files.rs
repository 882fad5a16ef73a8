//! Files that a page may name: those below the folder in which the studio was started, and below the folders of files
//! named on its command line. A link counts as the file to which it leads; `..` and protocols are not allowed.
//!
//! This checks names. Files are checked again when they are opened, by [`reach`](grainfield_io::disk::reach).

use super::fault::Fault;
use grainfield_io::format::images::files::{Sequence, sequences};
use grainfield_io::source::sequence;
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The largest number of names in a listing.
const MAX_NAMES: usize = 5000;

/// The folders.
#[derive(Clone, Debug)]
pub(super) struct Roots(Vec<PathBuf>);

/// The contents of a folder.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    /// The folder, in the form that the page may use.
    pub(super) folder: String,
    /// Its parent folder, unless that is not accessible.
    pub(super) above: Option<String>,
    /// The folders from a root down to this one: each with its name and the form that the page may use.
    pub(super) trail: Vec<(String, String)>,
    /// All roots, in the form that the page may use; the first is `""`.
    pub(super) roots: Vec<(String, String)>,
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<Listed>,
}

/// A file, or numbered images.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Listed {
    /// The name; that of images is a pattern, `shot.%04d.png`.
    pub(super) name: String,
    /// Bytes of a file.
    pub(super) bytes: Option<u64>,
    /// First number, last number and count of images.
    pub(super) images: Option<(i64, i64, usize)>,
}

impl Roots {
    /// The current folder, those that the user allows, and the folders of files that the user has named.
    pub(super) fn new(named: &[&Path], allowed: &[PathBuf]) -> Result<Roots, String> {
        let here = std::env::current_dir().and_then(fs::canonicalize);
        let mut all = vec![here.map_err(|e| format!("the current folder: {e}"))?];
        for folder in allowed {
            let real = fs::canonicalize(folder).and_then(|real| real.read_dir().map(|_| real));
            all.push(real.map_err(|e| format!("--allow-folder {}: {e}", folder.display()))?);
        }
        for file in named {
            let folder = file.parent().unwrap_or(Path::new(""));
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            if let Ok(folder) = fs::canonicalize(folder) {
                all.push(folder);
            }
        }
        let mut roots = Roots(Vec::new());
        for root in all {
            if !roots.0.contains(&root) {
                roots.0.push(root);
            }
        }
        Ok(roots)
    }

    /// The folder to which relative names refer.
    pub(super) fn first(&self) -> &Path {
        &self.0[0]
    }

    /// The folder of a file, as a full path.
    pub(super) fn folder_of(&self, name: &str) -> PathBuf {
        let folder = self.first().join(name).parent().map_or_else(|| self.first().into(), Path::to_path_buf);
        fs::canonicalize(&folder).unwrap_or(folder)
    }

    /// All of them.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.0.clone()
    }

    /// A path below a root. The file itself need not exist.
    pub(super) fn within(&self, name: &str) -> Result<PathBuf, Fault> {
        let outside = || Fault::new(format!("{name}: only files below {} can be opened here", self.shown()));
        if name.is_empty() || name.contains('\0') {
            return Err(Fault::new("the file name is missing"));
        }
        // FFmpeg would interpret the text before a colon as a protocol.
        if !Path::new(name).is_absolute() && name.split('/').next().is_some_and(|first| first.contains(':')) {
            return Err(Fault::new(format!("{name}: protocols are not allowed here")));
        }
        let path = self.first().join(name);
        if path.components().any(|c| c == Component::ParentDir) {
            return Err(outside());
        }
        // The part that exists decides; a link that leads nowhere yet could lead anywhere.
        let there = path.ancestors().find(|path| path.symlink_metadata().is_ok());
        let real = there.and_then(|path| path.canonicalize().ok()).ok_or_else(outside)?;
        // By components: `/testtest` is not below `/test`.
        if !self.0.iter().any(|root| real.starts_with(root)) {
            return Err(outside());
        }
        Ok(if Path::new(name).is_absolute() { path } else { PathBuf::from(name) })
    }

    /// The same for an existing file.
    pub(super) fn existing(&self, name: &str) -> Result<PathBuf, Fault> {
        let path = self.within(name)?;
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => Ok(path),
            Ok(_) => Err(Fault::new(format!("{name}: not a file"))),
            Err(e) => Err(Fault::new(format!("{name}: {e}"))),
        }
    }

    /// The name of an input: a file, a folder or pattern of images, or a test signal.
    pub(super) fn input(&self, name: &str) -> Result<OsString, Fault> {
        if name.starts_with("pattern:") {
            return Ok(name.into());
        }
        let path = self.within(name)?;
        match fs::metadata(&path) {
            Ok(meta) if !meta.is_file() && !meta.is_dir() => {
                Err(Fault::new(format!("{name}: neither a file nor a folder")))
            }
            Err(_) if !sequence::recognises(path.as_os_str()) => {
                Err(Fault::new(format!("{name}: there is no such file")))
            }
            _ => Ok(path.into()),
        }
    }

    /// The contents of a folder; `""` is the first root.
    pub(super) fn list(&self, folder: &str) -> Result<Listing, Fault> {
        let path = if folder.is_empty() { PathBuf::from(".") } else { self.within(folder)? };
        let entries = fs::read_dir(&path).map_err(|e| Fault::new(format!("{}: {e}", path.display())))?;
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for entry in entries.take(MAX_NAMES).flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(mut kind) = entry.file_type() else { continue };
            if kind.is_symlink() {
                let inside = self.within(&Path::new(folder).join(&name).to_string_lossy()).is_ok();
                let Some(meta) = fs::metadata(entry.path()).ok().filter(|_| inside) else { continue };
                kind = meta.file_type();
            }
            match kind {
                // The locks of the list of jobs are no folder of pictures.
                _ if name.starts_with('.') || name.ends_with(".toml.locks") => {}
                kind if kind.is_dir() => folders.push(name),
                kind if kind.is_file() => files.push(OsString::from(name)),
                _ => {}
            }
        }
        folders.sort();
        let (found, alone) = sequences(files);
        let images =
            |s: Sequence| Listed { name: s.pattern, bytes: None, images: Some((s.first, s.last, s.files)) };
        let mut files: Vec<Listed> = found.into_iter().map(images).collect();
        files.extend(alone.into_iter().filter_map(|name| {
            let name = name.into_string().ok()?;
            let bytes = fs::metadata(path.join(&name)).ok().map(|meta| meta.len());
            Some(Listed { name, bytes, images: None })
        }));
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let above = Path::new(folder).parent().map(|p| p.to_string_lossy().into_owned());
        let above = above.filter(|a| a.is_empty() || self.within(a).is_ok());
        let roots = self.0.iter().enumerate().map(|(i, root)| {
            let name = root.to_string_lossy().into_owned();
            (name.clone(), if i == 0 { String::new() } else { name })
        });
        let roots: Vec<_> = roots.collect();
        Ok(Listing { folder: folder.into(), above, trail: self.trail(folder, &roots), roots, folders, files })
    }

    /// The folders from a root down to this one.
    fn trail(&self, folder: &str, roots: &[(String, String)]) -> Vec<(String, String)> {
        let path = self.first().join(folder);
        let Some(at) = self.0.iter().position(|root| path.starts_with(root)) else { return Vec::new() };
        let mut trail = vec![roots[at].clone()];
        // A name that is relative stays so.
        let mut way = PathBuf::from(if Path::new(folder).is_absolute() { roots[at].0.as_str() } else { "" });
        for part in path.strip_prefix(&self.0[at]).into_iter().flat_map(Path::components) {
            way.push(part);
            trail.push((part.as_os_str().to_string_lossy().into_owned(), way.to_string_lossy().into_owned()));
        }
        trail
    }

    fn shown(&self) -> String {
        self.0.iter().map(|r| r.display().to_string()).collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_leads_outside() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        for name in ["test/deep", "testtest"] {
            fs::create_dir_all(base.join(name)).unwrap();
            fs::write(base.join(name).join("a.toml"), b"").unwrap();
        }
        symlink(base.join("testtest"), base.join("test/link")).unwrap();
        symlink(base.join("testtest/a.toml"), base.join("test/a.toml")).unwrap();
        let roots = Roots(vec![base.join("test")]);
        let name = |tail: &str| base.join(tail).to_string_lossy().into_owned();
        assert!(roots.existing(&name("test/deep/a.toml")).is_ok());
        for bad in [
            name("testtest/a.toml"),
            name("test/../testtest/a.toml"),
            name("test/link/a.toml"),
            name("test/a.toml"),
            "../testtest/a.toml".into(),
            "/etc/passwd".into(),
            String::new(),
        ] {
            assert!(roots.existing(&bad).is_err(), "{bad}");
            assert!(roots.input(&bad).is_err(), "{bad}");
        }
        for bad in ["http://127.0.0.1/x.mp4", "concat:a|b", "file:/etc/passwd", "-", "lavfi:testsrc"] {
            assert!(roots.input(bad).is_err(), "{bad}");
        }
        assert!(roots.input("pattern:bars").is_ok());
        let listing = roots.list(&name("test")).unwrap();
        assert_eq!((listing.folders, listing.files), (vec!["deep".to_owned()], vec![]));
        assert!(roots.list(&name("testtest")).is_err());
        // A link may lead to another file inside, also in a listing.
        symlink(base.join("test/deep/a.toml"), base.join("test/inner.toml")).unwrap();
        symlink(base.join("nowhere"), base.join("test/new.toml")).unwrap();
        assert!(roots.existing(&name("test/inner.toml")).is_ok());
        assert!(roots.within(&name("test/new.toml")).is_err(), "a new file would be outside");
        assert_eq!(roots.list(&name("test")).unwrap().files[0].name, "inner.toml");
    }

    #[test]
    fn folders_are_listed_with_their_way_and_images_together() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(base.join("a/deep")).unwrap();
        fs::create_dir_all(base.join("b/more")).unwrap();
        for name in ["shot.0009.png", "shot.0010.png", "shot.0012.png", "one.png", "clip.mp4"] {
            fs::write(base.join("a/deep").join(name), b"12345").unwrap();
        }
        let roots = Roots(vec![base.join("a"), base.join("b")]);
        let text = |tail: &str| base.join(tail).to_string_lossy().into_owned();
        let pair = |a: String, b: &str| (a, b.to_owned());
        let listing = roots.list(&text("a/deep")).unwrap();
        let file = |name: &str| Listed { name: name.into(), bytes: Some(5), images: None };
        let images = Listed { name: "shot.%04d.png".into(), bytes: None, images: Some((9, 12, 3)) };
        assert_eq!(listing.files, [file("clip.mp4"), file("one.png"), images]);
        let both = [pair(text("a"), ""), pair(text("b"), &text("b"))];
        assert_eq!(listing.roots, both);
        let way = roots.trail("deep/er", &both);
        assert_eq!(way, [both[0].clone(), pair("deep".into(), "deep"), pair("er".into(), "deep/er")]);
        let other = roots.list(&text("b/more")).unwrap();
        assert_eq!(other.trail, [both[1].clone(), pair("more".into(), &text("b/more"))]);
        assert_eq!(other.above, Some(text("b")));
        assert_eq!(roots.list(&text("b")).unwrap().above, None);
    }
}
