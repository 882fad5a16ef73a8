//! Progress as FFmpeg's `-progress` writes it: blocks of `key=value` lines, each ended by `progress=`.

use super::stats::ProgressStats;

/// One block.
pub(super) fn block(f: &ProgressStats, end: bool) -> String {
    let us = f.out_time_us();
    let (abs, sign) = (us.unsigned_abs(), if us < 0 { "-" } else { "" });
    let (h, m, s) = (abs / 3_600_000_000, abs / 60_000_000 % 60, abs / 1_000_000 % 60);
    format!(
        "frame={}\nfps={:.2}\nout_time_us={us}\nout_time={sign}{h:02}:{m:02}:{s:02}.{:06}\ndrop_frames={}\nspeed={:.3}x\nprogress={}\n",
        f.step.done,
        f.fps(),
        abs % 1_000_000,
        f.step.failed,
        f.speed(),
        if end { "end" } else { "continue" },
    )
}

#[cfg(test)]
mod tests {
    use super::super::stats::tests::sample;

    #[test]
    fn a_block() {
        let expected = "frame=48\nfps=12.00\nout_time_us=2000000\nout_time=00:00:02.000000\ndrop_frames=0\n\
                        speed=0.500x\nprogress=continue\n";
        assert_eq!(super::block(&sample(), false), expected);
        assert!(super::block(&sample(), true).ends_with("progress=end\n"));
    }
}
