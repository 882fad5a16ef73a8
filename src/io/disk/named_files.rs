//! Files that are named in the text of an input or option, or in a playlist.

use super::{reach, system::name_of};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The limits on the size of a playlist in bytes, and on the number of playlists.
const MAX_PLAYLIST: u64 = 16 << 20;
const MAX_PLAYLISTS: usize = 64;

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

/// The names that a line of text may contain: the line, its parts between signs of FFmpeg's syntax or of a playlist, and
/// what follows such a sign up to `|`, since a name may contain them.
fn candidates(line: &[u8]) -> impl Iterator<Item = &Path> {
    let parts = line.split(|b| b":|=,;[]'\"\\<>".contains(b));
    let signs = line.iter().enumerate().filter(|(_, b)| b":=|".contains(b));
    let rests = signs.filter_map(|(at, _)| line[at + 1..].split(|b| *b == b'|').next());
    let all = std::iter::once(line).chain(parts).chain(rests).map(<[u8]>::trim_ascii);
    all.filter(|name| !name.is_empty()).map(|name| Path::new(name_of(name)))
}

/// The existing files that are named in the text of an input or option which is not a plain path: after `file:` and
/// other protocols, in `concat:a|b`, in `movie=a.mkv`.
pub fn files_in_text(text: &OsStr) -> Vec<PathBuf> {
    let bytes = text.as_encoded_bytes();
    let mut found: Vec<PathBuf> =
        candidates(bytes).filter(|name| name.is_file()).map(Path::to_path_buf).collect();
    // `pipe:3`, and `pipe:` for standard input
    for scheme in [&b"pipe:"[..], b"fd:"] {
        for at in (0..bytes.len()).filter(|&at| bytes[at..].starts_with(scheme)) {
            let number = bytes[at + scheme.len()..].trim_ascii_start();
            let number = number.strip_prefix(b"+").unwrap_or(number);
            let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
            let number = if digits == 0 { b"0" } else { &number[..digits] };
            let descriptor = PathBuf::from(name_of(&[b"/dev/fd/", number].concat()));
            found.extend(Some(descriptor).filter(|path| path.is_file()));
        }
    }
    // a list of names, one per line
    if let (true, Some(list)) = (bytes.starts_with(b"concatf:"), found.first()) {
        let list = read(list, &[b""]).unwrap_or_default();
        found.extend(list.split(|b| *b == b'\n').flat_map(|line| files_in_text(name_of(line))));
    }
    found.sort();
    found.dedup();
    found
}

/// The files named in a playlist (HLS, MPEG-DASH, or a list for FFmpeg's concat) and in playlists within it. Empty for
/// other files.
pub fn files_in_playlist(path: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut lists = vec![path.to_path_buf()];
    let mut seen = 0;
    while let Some(list) = lists.pop().filter(|_| seen < MAX_PLAYLISTS) {
        let Some(text) = read(&list, &[b"#EXTM3U", b"ffconcat", b"<?xml", b"<MPD"]) else { continue };
        seen += 1;
        let mut names = BTreeSet::new();
        for line in text.split(|b| *b == b'\n') {
            names.extend(candidates(line).map(Path::to_path_buf));
            if let Ok(Some(mut quoted)) = str::from_utf8(line).map(|line| line.trim().strip_prefix("file")) {
                names.insert(token(&mut quoted, " \t\r").into());
            }
        }
        let folder = list.parent().unwrap_or(Path::new(""));
        // names may be relative to a folder that is named, too
        let mut folders: BTreeSet<PathBuf> =
            names.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()).collect();
        folders.insert(folder.to_path_buf());
        for file in folders.iter().flat_map(|folder| names.iter().flat_map(|name| matching(folder, name))) {
            if file.is_file() && found.insert(file.clone()) {
                lists.push(file);
            }
        }
    }
    found.into_iter().collect()
}

/// The files that a name in a playlist matches: in MPEG-DASH, `$Number%05d$` and similar patterns match any
/// text.
fn matching(folder: &Path, name: &Path) -> Vec<PathBuf> {
    let parts: Vec<&str> = name.to_str().unwrap_or_default().split('$').step_by(2).collect();
    match folder.to_str() {
        Some(folder) if parts.len() > 1 => {
            let name = parts.into_iter().map(glob::Pattern::escape).collect::<Vec<_>>().join("*");
            let pattern = Path::new(&glob::Pattern::escape(folder)).join(name);
            glob::glob(&pattern.to_string_lossy()).into_iter().flatten().flatten().collect()
        }
        _ => vec![folder.join(name)],
    }
}

/// The text of a file that begins with one of `heads`, up to a limit; `None` for other files.
fn read(path: &Path, heads: &[&[u8]]) -> Option<Vec<u8>> {
    // opening a pipe would wait for its writer
    let mut file = Some(path).filter(|p| p.is_file()).and_then(|p| reach::open(p).ok())?;
    let mut text = Vec::new();
    file.by_ref().take(8).read_to_end(&mut text).ok()?;
    if !heads.iter().any(|head| text.starts_with(head)) {
        return None;
    }
    file.take(MAX_PLAYLIST).read_to_end(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_texts_and_playlists() {
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
            assert_eq!(files_in_text(OsStr::new(&text)), want, "{text}");
        }
        std::fs::write(at("top.m3u8"), "#EXTM3U\n#EXT-X-MAP:URI=\"b.ts\"\nlow.m3u8\nhttp://x/y.ts\n")
            .unwrap();
        std::fs::write(at("low.m3u8"), "#EXTM3U\n#EXTINF:1,\na.ts\ntop.m3u8\n").unwrap();
        std::fs::write(at("list"), "ffconcat version 1.0\nfile 'a.ts'\nfile c:d.ts\n").unwrap();
        let mut all = files_in_playlist(&at("top.m3u8"));
        all.sort();
        assert_eq!(all, ["a.ts", "b.ts", "low.m3u8", "top.m3u8"].map(at));
        assert_eq!(files_in_playlist(&at("list")), [at("a.ts"), at("c:d.ts")]);
        for line in ["file a.ts # mine", "file\ta.ts", "file 'a'.ts", "file a.\\ts", "  file 'a.ts'  "] {
            std::fs::write(at("list"), format!("ffconcat version 1.0\n{line}\n")).unwrap();
            assert_eq!(files_in_playlist(&at("list")), [at("a.ts")], "{line}");
        }
        std::fs::write(at("x.mpd"), "<?xml?>\n<MPD><BaseURL>a.ts</BaseURL><S media=\"b.ts\"/></MPD>")
            .unwrap();
        assert_eq!(files_in_playlist(&at("x.mpd")), [at("a.ts"), at("b.ts")]);
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
        let mut all = files_in_playlist(&at("t.mpd"));
        all.sort();
        assert_eq!(all, ["chunk-00001.m4s", "chunk-00002.m4s", "init.m4s"].map(|n| stream.join(n)));
        std::fs::write(at("f"), format!("{root}/a.ts\n{root}/b.ts\n")).unwrap();
        assert_eq!(files_in_text(OsStr::new(&format!("concatf:{root}/f"))), ["a.ts", "b.ts", "f"].map(at));
        assert_eq!(files_in_playlist(&at("a.ts")), [""; 0].map(at));
    }
}
