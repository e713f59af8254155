// A program of named cases: CASE(name) { ... CHECK(condition); ... }. Run as `program name`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Case {
  Case(const char* name, void (*run)()) : name(name), run(run), next(first) { first = this; }
  const char* name;
  void (*run)();
  Case* next;
  static inline Case* first = nullptr;
};

#define CASE(name)                     \
  void name();                         \
  const Case case_##name(#name, name); \
  void name()

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

int main(int argc, char** argv) {
  for (const Case* c = Case::first; c != nullptr; c = c->next) {
    if (argc != 2 || std::strcmp(c->name, argv[1]) != 0) continue;
    c->run();
    return 0;
  }
  std::printf("usage: %s CASE\n", argv[0]);
  return 2;
}
