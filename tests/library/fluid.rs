//! Simulations (fluid, flock, sand) in the whole program: one result for any order, threads, range, level and cache
//! contents.

use crate::support::hashes;
use grainfield::disk::cache::{self, DEFAULT_LIMIT};
use grainfield::session::job::{Cache, Event, Job, JobError, Request};
use grainfield::session::{Cancel, ErrorKind};
use grainfield_filters::recipe::Recipe;
use grainfield_filters::simd::Level;
use std::path::Path;
use std::sync::Mutex;

const INPUT: &str = "pattern:zoneplate:size=96x54:frames=60:format=yuv420p";
const CHAINS: &[&str] = &[
    "fluid=particles=600",
    "flock=agents=300:size=90:predators=1:goal='0=48,27;59=10,9'",
    "fluid=scene=rain:particles=400:start=1:refraction='0=0;59=2',noise=strength=4",
    "sand=size=40:grains=4000:flow='0=200;59=800':spread=0.1:start=1:gusts=0.1:drift=30:wind=0.1",
    "sand=preset=hourglass:size=40:grains=300:backwards=2,sand=preset=snowfall:size=40:grains=2000:light=linear",
    "fluid=scene=fountain:particles=300,fluid=scene=drop:particles=300:tint=red",
];

fn whole(chain: &str) -> Vec<(i64, String)> {
    hashes(INPUT, chain, |r| r.threads = Some(1))
}

/// Frames in any requested order equal those of the whole render.
fn check(chain: &str, want: &[(i64, String)], what: &str, change: impl FnOnce(&mut Request)) {
    for (n, hash) in hashes(INPUT, chain, change) {
        assert_eq!(hash, want[n as usize].1, "{chain}: frame {n}, {what}");
    }
}

#[test]
fn order_threads_level_and_range_do_not_matter() {
    for chain in CHAINS {
        let want = whole(chain);
        assert!(want.len() == 60 && want[10].1 != want[50].1);
        for threads in [2, 5, 16] {
            check(chain, &want, "threads", |r| r.threads = Some(threads));
        }
        for &level in Level::available() {
            check(chain, &want, "level", |r| {
                r.level = Some(level.isa());
                r.frames = Some("0-20x5,50".parse().unwrap());
            });
        }
        for range in ["50-59", "59,31,2,48,30,0", "24,23,25", "55,50,45,40,35,30,25,20,15,10,5"] {
            for threads in [1, 3] {
                check(chain, &want, range, |r| {
                    r.frames = Some(range.parse().unwrap());
                    r.threads = Some(threads);
                });
            }
        }
        check(chain, &want, "little memory", |r| r.memory = Some(64_000_000));
    }
}

fn states(cache: &Path) -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> =
        std::fs::read_dir(cache.join("states")).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn a_cache_changes_nothing_cold_warm_deleted_or_damaged() {
    for chain in &CHAINS[..4] {
        let want = whole(chain);
        let folder = tempfile::tempdir().unwrap();
        let with = |what: &str, range: Option<&str>| {
            check(chain, &want, what, |r| {
                r.cache = Cache { folder: Some(folder.path().into()), limit: None };
                r.frames = range.map(|f| f.parse().unwrap());
                r.threads = Some(2);
            });
        };
        with("cold", None);
        // After frames 24 and 48.
        let kept = states(folder.path());
        assert!(kept.len() >= 2, "{kept:?}");
        with("warm", None);
        with("warm", Some("59,49,25,3"));
        for (i, file) in kept.iter().enumerate() {
            let good = std::fs::read(file).unwrap();
            let mut bad = good.clone();
            let at = if i == 0 { bad.len() / 2 } else { 30 };
            bad[at] ^= 0x10;
            std::fs::write(file, &bad).unwrap();
        }
        let bad: Vec<_> = kept.iter().map(|f| std::fs::read(f).unwrap()).collect();
        with("damaged", Some("59,49,25,3"));
        // The damage is noticed, and the state computed again.
        for (file, bad) in kept.iter().zip(bad) {
            assert!(std::fs::read(file).unwrap() != bad, "{}", file.display());
        }
        std::fs::remove_dir_all(folder.path().join("states")).unwrap();
        with("deleted", Some("50-59"));
        assert_eq!(states(folder.path()).len(), kept.len());
        // Another seed, size or setting has separate states.
        let kept = cache::Cache::new(folder.path(), DEFAULT_LIMIT);
        let before = kept.usage().unwrap().files;
        hashes(INPUT, "fluid=particles=600:gravity=1.7", |r| {
            r.cache = Cache { folder: Some(folder.path().into()), limit: None };
            r.frames = Some("30".parse().unwrap());
        });
        assert!(kept.usage().unwrap().files > before);
    }
}

/// Positions are given in samples, so frames of another size have other states.
#[test]
fn states_of_another_frame_size_are_not_taken() {
    let inputs =
        ["96x54", "192x108"].map(|size| format!("pattern:zoneplate:size={size}:frames=50:format=yuv420p"));
    for chain in [
        "flock=agents=40:size=90:goal='0=20,20;40=80,40'",
        "sand=size=40:grains=400:position='0=20,0;40=80,5'",
    ] {
        let want = inputs.each_ref().map(|input| hashes(input, chain, |_| {}));
        let folder = tempfile::tempdir().unwrap();
        for (input, want) in inputs.iter().zip(want) {
            let got = hashes(input, chain, |r| {
                r.cache = Cache { folder: Some(folder.path().into()), limit: None };
            });
            assert!(got == want, "{chain} {input}: the whole clip");
            let last = hashes(input, chain, |r| {
                r.cache = Cache { folder: Some(folder.path().into()), limit: None };
                r.frames = Some("49".parse().unwrap());
            });
            assert_eq!(last[0].1, want[49].1, "{chain} {input}: the last frame");
        }
    }
}

#[test]
fn fields_are_filtered_each_at_its_time() {
    let field = |r: &mut Request| r.fields = grainfield::session::job::Fields::Field;
    let chain = "fluid=particles=300";
    let want = hashes(INPUT, chain, field);
    assert_ne!(want, whole(chain));
    let part = hashes(INPUT, chain, |r| {
        field(r);
        r.threads = Some(3);
        r.frames = Some("40,7,41".parse().unwrap());
    });
    assert!(part.iter().all(|(n, hash)| *hash == want[*n as usize].1));
}

/// Records progress of stepping, and cancels after a number of steps.
struct Ear {
    told: Mutex<Vec<(u64, u64)>>,
    enough: u64,
    cancel: Cancel,
}

impl Ear {
    fn tell(&self, event: Event) {
        if let Event::Simulating { done, all } = event {
            self.told.lock().unwrap().push((done, all));
            if done >= self.enough {
                self.cancel.cancel();
            }
        }
    }
}

/// Steps towards a distant frame until enough progress has been reported.
fn towards(cache: &Path, frame: i64, enough: u64) -> Vec<(u64, u64)> {
    let mut request = Request::new("pattern:zoneplate:size=96x54:frames=100000:format=yuv420p", "null:");
    request.recipe = "fluid=particles=600".parse::<Recipe>().unwrap();
    request.cache = Cache { folder: Some(cache.into()), limit: None };
    request.frames = Some(frame.to_string().parse().unwrap());
    request.threads = Some(2);
    let ear = Ear { told: Mutex::default(), enough, cancel: request.cancel.clone() };
    let error = Job::prepare(request).unwrap().run(&|event| ear.tell(event)).err().unwrap();
    assert!(error.kind() == ErrorKind::Cancelled, "{error:?}");
    ear.told.into_inner().unwrap()
}

#[test]
fn stepping_reports_progress_can_be_cancelled_and_keeps_valid_states() {
    let folder = tempfile::tempdir().unwrap();
    let told = towards(folder.path(), 90_000, 60);
    assert!(told.is_sorted() && told.iter().all(|(done, all)| done < all && *all == 90_000), "{told:?}");
    let kept = states(folder.path());
    assert!(kept.len() >= 2, "{kept:?}");
    // It continues from there.
    let again = towards(folder.path(), 90_000, 0);
    assert!(again[0].0 >= 24 * kept.len() as u64, "{again:?} {kept:?}");
    let want = whole(CHAINS[0]);
    check(CHAINS[0], &want, "after a stop", |r| {
        r.cache = Cache { folder: Some(folder.path().into()), limit: None };
        r.frames = Some("59,30,24".parse().unwrap());
    });
    assert!(kept.iter().all(|f| f.exists()));
}

fn refused(input: &str, chain: &str, offset: i64) -> JobError {
    let mut request = Request::new(input, "null:");
    request.recipe = chain.parse::<Recipe>().unwrap();
    request.frame_offset = offset;
    Job::prepare(request).err().unwrap()
}

#[test]
fn a_frame_of_the_source_obstructs() {
    let input = "pattern:bars:size=96x54:frames=30:format=yuv420p10";
    let last = |chain: &str, offset: i64| {
        hashes(input, chain, |r| {
            r.frames = Some(format!("{}", 20 + offset).parse().unwrap());
            r.frame_offset = offset;
        })
    };
    let free = last("fluid=particles=500", 0);
    let blocked = last("fluid=particles=500:obstacle_frame=3", 0);
    assert_ne!(free, blocked);
    assert_ne!(blocked, last("fluid=particles=500:obstacle_frame=3:solid=dark", 0));
    // The number is the user's, and this source has the same picture in every frame.
    assert_eq!(last("fluid=particles=500:obstacle_frame=1003", 1000)[0].1, blocked[0].1);
    for (chain, offset) in
        [("fluid=obstacle_frame=30", 0), ("fluid=obstacle_frame=-1", 0), ("fluid=obstacle_frame=3", 100)]
    {
        let e = refused(input, chain, offset);
        assert!(e.is_usage() && e.to_string().contains("its frames"), "{e}");
    }
    let e = refused("-", "fluid=obstacle_frame=3", 0);
    assert!(e.to_string().contains("name a file"), "{e}");
}

#[test]
fn too_little_memory_is_an_error() {
    let mut request = Request::new(INPUT, "null:");
    request.recipe = "fluid=particles=200000".parse::<Recipe>().unwrap();
    request.memory = Some(20_000_000);
    let e = Job::prepare(request).err().unwrap();
    assert!(e.is_usage() && e.to_string().contains("memory"), "{e}");
}
