//! Files that the program writes beside its outputs, or reads tracks and jobs from.

use super::super::Target;
use grainfield::assets;
use grainfield::batch::{jobs::JobList, queue};
use grainfield::journal::resume::{Manifest, xxh64};
use grainfield_filters::curve::fit::{FitShape, fit};
use grainfield_filters::curve::stream::{Tracks, reindex};
use grainfield_filters::ratio::Ratio;
use md5::{Digest, Md5};
use std::path::Path;
use std::sync::Arc;

/// `.gfa` track files. Nearly all mutants fail their checksums, so every file with the right beginning counts
/// as understood.
pub const TRACKS: Target =
    Target { name: "tracks", run: tracks, words: &["\0", "\u{1}", "\u{7f}"], seeds: &[] };

/// Jump frames of the cache. Nearly all mutants fail their checksum, so every file with the right beginning
/// counts as understood.
pub const STATE: Target = Target { name: "state", run: state, words: &["\0", "\u{1}", "\u{7f}"], seeds: &[] };

/// Lottie keyframe lists.
pub const LOTTIE: Target = Target {
    name: "lottie",
    run: lottie,
    words: &[
        "\"t\":", "\"s\":", "\"i\":", "\"o\":", "\"h\":1", "[", "]", "{", "}", ",", "1e308", "-0", "0.5",
    ],
    seeds: &[
        r#"[{"t":0,"s":[1],"o":{"x":[0.3],"y":[0]},"i":{"x":[0.7],"y":[1]}},{"t":9,"s":[2]}]"#,
        r#"{"a":1,"k":[{"t":0,"s":[0,0],"h":1},{"t":24,"s":[10,5]}]}"#,
    ],
};

/// Samples of tracks, CSV or JSON.
pub const SAMPLES: Target = Target {
    name: "samples",
    run: samples,
    words: &["frame", "time", "name", "value", ",", "\n", "\"", "1e308", "nan", "-", ";", "\t", "[", "]"],
    seeds: &[
        "frame,x\n0,1\n1,5\n2,1e99\n3,4\n",
        "frame,name,value\n0,a,1\n0,b,2\n1,a,3\n1,b,2\n",
        "{\"x\":[[0,1],[7,2],[9,1e-300]]}",
        r#"{"op":3,"assets":[{"id":"a","w":2,"h":2}],"layers":[{"ty":2,"refId":"a","nm":"n","ind":1,"parent":2,
            "ks":{"p":{"a":1,"k":[{"t":0,"s":[0,0],"to":[0,4],"ti":[0,4]},{"t":2,"s":[6,0]}]},"r":{"a":0,"k":9}}},
            {"ty":3,"ind":2,"ks":{"s":{"a":0,"k":[50,50]},"a":{"a":0,"k":[1,2]},"o":{"a":0,"k":70}}}]}"#,
    ],
};

/// Manifests, including those of shards. Any bytes are valid; invalid lines are ignored.
pub const MANIFEST: Target = Target {
    name: "manifest",
    run: manifest,
    words: &[
        "{\"settings\":[",
        "{\"request\":[",
        "{\"file\":{",
        "{\"shard\":[",
        "{\"times\":[",
        "7,",
        "[[",
        "]",
        "null",
        " ~",
        "\n",
        "{",
        "}",
        "0-10",
        "18446744073709551616",
        "-1",
        "ffffffff",
    ],
    seeds: &[
        "grainfield manifest 2\n{\"settings\":[7,\"{\\\"recipe\\\":\\\"noise\\\"}\"]}\n{\"request\":[7,\"1-10x2,12-\"]}\n\
         {\"file\":{\"number\":1001,\"key\":7,\"source_hash\":3,\"size\":12,\"time\":5,\"hash\":9}}\n",
        "{\"shard\":[7,{\"index\":1,\"count\":2,\"kind\":\"video\",\"input\":\"a\",\"wanted\":5,\"written\":5,\
         \"video\":{\"tick\":[1,24],\"ends\":{\"first\":true,\"last\":false},\"audio\":\"copy\",\"subs\":\"auto\",\"no_chapters\":false,\
         \"allow_protocol\":[]}}]}\n{\"times\":[7,[[0,1],[2,1]]]}\n",
    ],
};

/// Lists of jobs.
pub const JOBS: Target = Target {
    name: "jobs",
    run: jobs,
    words: &[
        "[[job]]\n",
        "input = ",
        "output = ",
        "recipe = ",
        "filter = ",
        "\"",
        "\n",
        "..",
        "/",
        "{name}",
        "seed = 1",
    ],
    seeds: &[
        "[[job]]\ninput = \"a.y4m\"\noutput = \"b.y4m\"\n",
        "version = 1\nfolder = \"out\"\n[all]\nfilters = \"noise\"\n[[job]]\nname = \"x\"\ninput = \"a\"\noutput = \"b\"\ncrf = 18\n\
         segments = true\n[[job]]\ninput = \"c\"\noutput = \"d/e\"\nframes = \"1-9\"\n",
    ],
};

/// Status files of a batch. Any bytes are valid; invalid lines are ignored.
pub const STATUS: Target = Target {
    name: "status",
    run: status,
    words: &["{", "}", "\"id\":", "\"state\":", "\"done\"", "\"failed\"", "\n", ",", "null"],
    seeds: &["{\"id\":\"a\",\"state\":\"done\"}\n{\"id\":\"b\",\"state\":\"waiting\"}\n"],
};

fn tracks(data: &[u8]) -> bool {
    play(data);
    data.starts_with(b"\x89GFP")
}

fn state(data: &[u8]) -> bool {
    read_state(data);
    data.starts_with(b"\x89GFJ")
}

fn lottie(data: &[u8]) -> bool {
    read_lottie(data);
    std::str::from_utf8(data).is_ok_and(|text| assets::lottie(text, "v", None).is_ok())
}

fn samples(data: &[u8]) -> bool {
    fit_samples(data);
    assets::read_samples(data).is_ok()
}

fn manifest(data: &[u8]) -> bool {
    let _ = Manifest::parse(data);
    // and every line with a matching checksum
    let lines =
        data.split(|&b| b == b'\n').map(|l| [l, format!(" ~{:08x}\n", xxh64(l) as u32).as_bytes()].concat());
    let _ = Manifest::parse(&lines.collect::<Vec<_>>().concat());
    true
}

fn jobs(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    match JobList::parse(text, Path::new("")) {
        Ok(_) => true,
        Err(e) => {
            let _ = format!("{e} {e:?}");
            false
        }
    }
}

fn status(data: &[u8]) -> bool {
    let _ = queue::parse(data);
    true
}

/// Opens a `.gfa` file, verifies all its chunks, plays it and seeks in it.
fn play(bytes: &[u8]) {
    let Ok(all) = Tracks::open(Arc::new(bytes.to_vec())) else { return };
    let _ = all.verify();
    let _ = all.track(0);
    let Ok(mut head) = all.start() else { return };
    for n in [0, 1, 2, 7, 30, 500, 3, 100_000, 12, -5] {
        if all.seek(&mut head, Ratio::whole(n)).is_err() {
            return;
        }
    }
    let _ = reindex(&all, Ratio::whole(1000), &mut std::io::sink());
}

/// Reads a jump frame of the cache under the key stored in it.
fn read_state(bytes: &[u8]) {
    let key = bytes.get(12..28).and_then(|k| k.first_chunk()).map_or(0, |k| u128::from_le_bytes(*k));
    let _ = assets::unpack_state(key, bytes);
    // Repair the checksum, to reach the code behind it.
    if let Some(body) = bytes.len().checked_sub(16) {
        let mut whole = bytes[..body].to_vec();
        let sum = Md5::digest(&whole);
        whole.extend_from_slice(&sum);
        if let Some(state) = assets::unpack_state(key, &whole) {
            assert!(
                assets::pack_state(key, &state)
                    .is_ok_and(|file| assets::unpack_state(key, &file) == Some(state))
            );
        }
    }
}

/// Parses a Lottie keyframe list, with and without a rate, and writes it.
fn read_lottie(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for rate in [None, Ratio::new(30_000, 1001)] {
        for (_, curve) in assets::lottie(text, "v", rate).into_iter().flatten() {
            let _ = assets::to_lottie(&curve);
        }
    }
}

/// Reads samples in CSV or JSON, and fits short tracks.
fn fit_samples(bytes: &[u8]) {
    for (_, samples) in assets::read_samples(bytes).into_iter().flatten() {
        if samples.len() <= 64 {
            for shape in FitShape::ALL {
                let _ = fit(&samples, shape, 0.5);
            }
        }
    }
}
