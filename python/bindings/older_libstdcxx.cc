// Lets a wheel run with libstdc++ 11 (RHEL 9): version 12 gave this one function a second symbol
// version, which changed only its exception specification, and the linker takes the newest. Wheels
// are linked with --wrap for it.
#include <condition_variable>
#include <mutex>

#define FUELRAIL_WAIT "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"

extern "C" {

void fuelrail_older_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock);
__asm__(".symver fuelrail_older_wait, " FUELRAIL_WAIT "@GLIBCXX_3.4.11");

// The linker calls this wherever `condition.wait(lock)` stands.
void fuelrail_wrapped_wait(std::condition_variable* condition,
                           std::unique_lock<std::mutex>* lock) __asm__("__wrap_" FUELRAIL_WAIT);
void fuelrail_wrapped_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock) {
  fuelrail_older_wait(condition, lock);
}

}  // extern "C"
