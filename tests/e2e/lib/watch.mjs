/*
 * watch.mjs - waiting for what another process does: who notices a change says so, and everybody who
 * waits looks again. Nothing is asked by the clock.
 */
export class Watch {
  #watchers = new Set();

  /** Something has changed. */
  changed() {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** What `look()` gives, once it is not undefined; rejected with what it throws. */
  until(look) {
    return new Promise((done, fail) => {
      const watcher = () => {
        try {
          const result = look();
          if (result === undefined) return;
          done(result);
        } catch (error) {
          fail(error);
        }
        this.#watchers.delete(watcher);
      };
      this.#watchers.add(watcher);
      watcher();
    });
  }
}
