// Lets a wheel run with libstdc++ 11 (RHEL 9). libstdc++ 12 gave this function a second symbol
// version, which differs only in its exception specification, and the linker chooses the newest. So
// wheels are linked with --wrap for it.
#include <condition_variable>
#include <mutex>

#define FUELRAIL_WAIT "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"

extern "C" {

void fuelrail_older_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock);
__asm__(".symver fuelrail_older_wait, " FUELRAIL_WAIT "@GLIBCXX_3.4.11");

// The linker makes every `condition.wait(lock)` call this function.
void fuelrail_wrapped_wait(std::condition_variable* condition,
                           std::unique_lock<std::mutex>* lock) __asm__("__wrap_" FUELRAIL_WAIT);
void fuelrail_wrapped_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock) {
  fuelrail_older_wait(condition, lock);
}

}  // extern "C"
