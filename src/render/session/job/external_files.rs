//! Files that FFmpeg writes itself, named in a graph of its filters or in an encoder's options.

use grainfield_io::disk::graph::{filters, pairs};
use grainfield_io::disk::{Access, FileAccess, files_in_text};

use std::ffi::OsStr;
use std::path::PathBuf;

/// Options of any filter whose value is a file that it writes.
const ANY: [&str; 3] = ["stats_file", "log_path", "shader_cache"];

/// Filters with further such options, and the default file names.
const FILTERS: [(&str, &str, Option<&str>); 10] = [
    ("metadata", "file", None),
    ("ametadata", "file", None),
    ("psnr", "f", None),
    ("ssim", "f", None),
    ("ssim360", "f", None),
    ("xpsnr", "f", None),
    ("libvmaf", "log_path", None),
    ("signature", "filename", None),
    ("deshake", "filename", None),
    ("vidstabdetect", "result", Some("transforms.trf")),
];

/// The files that a graph reads and writes.
pub fn files_in_graph(graph: &str) -> FileAccess {
    let mut access = FileAccess::default();
    let mut written = Vec::new();
    for (name, options) in filters(graph) {
        let own = FILTERS.iter().find(|f| f.0 == name);
        let mut named = false;
        for (mut key, mut value) in options {
            // `/key=FILE`: the file contains the option's value
            if let Some(real) = key.strip_prefix('/') {
                key = real.to_owned();
                // opening a pipe would wait for its writer
                let file = Some(PathBuf::from(&value)).filter(|file| file.is_file());
                let text =
                    file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
                access.read_all(FILTER, file);
                value = text.trim_end_matches(['\r', '\n']).to_owned();
            }
            let writes = ANY.contains(&&*key) || own.is_some_and(|f| f.1 == key);
            named |= writes;
            // the meaning of an option without a key depends on its position, which differs between versions
            let maybe = key.is_empty() && own.is_some();
            if (writes || maybe) && value != "-" && !value.starts_with("pipe:") {
                written.push(PathBuf::from(value.strip_prefix("file:").unwrap_or(&value)));
            } else {
                access.read_all(FILTER, files_in_text(OsStr::new(&value)));
            }
        }
        written.extend(own.and_then(|f| f.2).filter(|_| !named).map(PathBuf::from));
    }
    // with any quoting
    let read = files_in_text(OsStr::new(graph)).into_iter().filter(|file| !written.contains(file));
    access.read_all(FILTER, read);
    for file in written {
        access.add(Access::WriteExternal, "the output of an FFmpeg filter,", file);
    }
    access
}

const FILTER: &str = "a file of an FFmpeg filter";

/// The files that an encoder's options name: logs and statistics.
pub(super) fn files_in_encoder_options(options: &[(String, String)]) -> FileAccess {
    let mut access = FileAccess::default();
    let role = "the output of an encoder's option,";
    let all: Vec<(String, String)> = options
        .iter()
        .flat_map(|(key, value)| [vec![(key.clone(), value.clone())], pairs(value)].concat())
        .collect();
    let value =
        |wanted: &str| all.iter().rev().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str());
    let first = value("flags").is_some_and(|flags| flags.contains("pass1"));
    if first || matches!(value("pass"), Some("1" | "3")) {
        let x265 = options.iter().any(|(key, _)| key == "x265-params");
        let (name, beside) = if x265 { ("x265_2pass.log", ".cutree") } else { ("x264_2pass.log", ".mbtree") };
        let stats = value("stats").or(value("passlogfile")).unwrap_or(name);
        access.add(Access::WriteExternal, role, stats);
        access.add(Access::WriteExternal, role, &format!("{stats}{beside}"));
    }
    for file in ["csv", "recon", "analysis-save"].into_iter().filter_map(value) {
        access.add(Access::WriteExternal, role, file);
    }
    for file in options.iter().flat_map(|(_, value)| files_in_text(OsStr::new(value))) {
        access.write(role, file);
    }
    access
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_io::disk::FileRef;

    #[test]
    fn graphs_and_options_name_files() {
        let named = |access: FileAccess| -> Vec<String> { access.writes().map(FileRef::to_string).collect() };
        for (graph, want) in [
            ("scale=2:2,crop=1:1", &[][..]),
            ("metadata=mode=print:file=a.txt", &["a.txt"]),
            ("[in] signalstats , metadata@x=mode=print:file='a\\:b,c.txt' [out]", &["a:b,c.txt"]),
            ("split[a][b];[a][b]psnr=stats_file=p.log", &["p.log"]),
            ("split[a][b];[a][b]ssim=f=file\\\\:p.log", &["p.log"]),
            ("vidstabdetect", &["transforms.trf"]),
            ("vidstabdetect=shakiness=5:result=t", &["t"]),
            ("metadata=mode=print:file=-", &[]),
        ] {
            assert_eq!(named(files_in_graph(graph)), want, "{graph}");
        }
        let dir = tempfile::tempdir().unwrap();
        let (name, log) = (dir.path().join("name"), dir.path().join("a.log"));
        std::fs::write(&name, format!("{}\n", log.display())).unwrap();
        let graph = format!("metadata=mode=print:/file={}", name.display());
        assert_eq!(named(files_in_graph(&graph)), [log.display().to_string()]);
        // the named file is recognised in any spelling
        let odd = dir.path().join("k:e");
        std::fs::write(&odd, "lavfi.x\n").unwrap();
        let mut access =
            files_in_graph(&format!("metadata=mode=print:/key={}/k\\\\:e", dir.path().display()));
        access.write("the output", odd);
        assert!(access.check().is_err());
        let encoder = |key: &str, value: &str| named(files_in_encoder_options(&[(key.into(), value.into())]));
        assert_eq!(encoder("x264-params", "pass=1:stats=s"), ["s", "s.mbtree"]);
        assert_eq!(encoder("x265-params", "pass=1"), ["x265_2pass.log", "x265_2pass.log.cutree"]);
        assert_eq!(encoder("x264-params", "pass=2:stats=s"), [""; 0]);
    }
}
